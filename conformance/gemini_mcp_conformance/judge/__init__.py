"""What is right: checks, the expectations they compare with, and the verdict on each requirement. Pure.

A module belongs here when it decides about a port.
"""
