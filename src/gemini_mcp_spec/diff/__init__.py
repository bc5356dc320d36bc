"""The comparison of two specifications: the files of both in, changes and the version that they need out. Pure.

What may live here: one module for each area of the specification, and what is done with the changes of all areas.
"""
