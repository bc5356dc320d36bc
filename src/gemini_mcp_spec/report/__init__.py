"""What readers get: complaints, comparisons and pages in, text of several formats out. Pure.

What may live here: formats. Nothing is judged here.
"""
