"""Comparing two JSON Schemas: whether one lies within the other, what differs, and a value that proves it."""
