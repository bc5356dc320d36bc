"""Gemini CLI's side of MCP: from settings files to tools and prompts that a model can use. Effect.

A room for each thing that a host has; what two rooms need is in `rules`. A new rule of Gemini CLI belongs to the room
of the thing that it is about, as a field of the profiles where they differ in it.
"""
