"""What is told: reports in every format, the matrix of ports, and what is kept for later.

A module belongs here when it turns judgements into something that a person or a program reads.
"""
