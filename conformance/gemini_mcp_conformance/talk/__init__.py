"""Conversations with a port as values, and the sources that make them from the specification. Pure.

A module belongs here when it knows what to say and not how it is sent.
"""
