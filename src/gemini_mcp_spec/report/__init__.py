"""What readers get: complaints, comparisons and pages, in several formats. Pure.

What may live here: formats. Nothing is judged here.
"""
