"""Compares two specifications: what changed, whom it breaks, and which version it needs. Pure.

What may live here: one module for each area of the specification, and what is done with the changes of all areas.
"""
