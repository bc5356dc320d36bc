"""What the specification asks: the suite's own reading of the templates, schemas and rules. Pure.

The records come from `gemini_mcp.spec`; what they mean is worked out here anew, and nothing is taken from the server.
"""
