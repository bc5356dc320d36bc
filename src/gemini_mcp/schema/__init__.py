"""JSON Schemas: how two differ, whether one contains the other, and which value shows it. Pure, but for `bound`.

What may live here: what is true of any JSON Schema. The gate says what a difference means for a specification, the host
what it means for the tools of a server.
"""
