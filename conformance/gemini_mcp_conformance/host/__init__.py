"""The host direction: adapters are asked what vectors, properties and scenarios ask, and judged as servers are.

A module belongs here when it asks a host, or makes a check of what it answers.
"""
