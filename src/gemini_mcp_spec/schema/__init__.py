"""JSON Schemas: how two differ, whether one contains the other, and which value shows it. Pure.

What may live here: what is true of any JSON Schema. Whom a difference breaks is decided in `diff`.
"""
