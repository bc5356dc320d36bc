"""The rules of `lint`: the files of one specification in, complaints out. Pure.

What may live here: one module of rules for each part of the specification, and what runs all rules.
"""
