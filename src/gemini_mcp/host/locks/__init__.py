"""Locks: what a server declared when somebody looked at it, and what has changed since. Pure.

What may live here: the file, the comparison of two and what is said of a change. Servers are asked in `command`.
"""
