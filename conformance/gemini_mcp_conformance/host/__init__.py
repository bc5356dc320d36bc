"""The host direction: adapters are asked questions from vectors, properties and scenarios, and judged as servers are.

A module belongs here when it asks a host, or makes a check of the answers.
"""
