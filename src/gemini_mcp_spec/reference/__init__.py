"""What the reference makes of calls, and whether examples say the same. Pure.

What may live here: the one module that asks the reference, and what compares its answers with the examples. The gate
has no interpreter of `invocation.json` and `outcome.json` of its own: the server's is made of pure functions, which are
imported only here, and a third one could only agree with the server's or be wrong.
"""
