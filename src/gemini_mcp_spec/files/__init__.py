"""The files of a specification: where they are read from, what kinds there are, and how to find a place in them. Pure.

What may live here: what gives files, documents and their parts. What is wrong with them or different is told elsewhere.
"""
