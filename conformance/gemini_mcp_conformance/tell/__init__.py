"""Reports in every format, the matrix of ports, and files that are kept for later runs.

A module belongs here when it turns judgements into something that a person or a program reads.
"""
