"""What Gemini CLI finds when the server starts it: settings, variables, trust, sign-in. Pure, but for what reads files.

The rules are those of version 0.61.0, read from its program; `tests/real` shows each of them with the program itself.
"""
