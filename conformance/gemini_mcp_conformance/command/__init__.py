"""The subcommands of `gemini-mcp-conformance`, one module for each kind. Edge.

A new subcommand is a parser, and a function `execute` that takes the parsed words and the port's command.
"""
