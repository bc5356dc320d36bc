"""The subcommands of `gemini-mcp-conformance`, a module for each kind: its parser, and what it does. Edge.

A new one is a function that takes the parsed words and the port's command, and a parser that names it as `execute`.
"""
