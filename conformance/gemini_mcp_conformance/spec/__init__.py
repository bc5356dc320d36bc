"""What the specification demands: the suite's own reading of templates, schemas, rules and gemini's output. Pure.

The records come from `gemini_mcp.spec`. Their meaning is worked out here again, with no code of the server.
"""
