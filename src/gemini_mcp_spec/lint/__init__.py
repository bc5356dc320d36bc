"""The rules of `lint`, and what runs them. Pure.

What may live here: one module of rules for each part of the specification, and what runs all rules.
"""
