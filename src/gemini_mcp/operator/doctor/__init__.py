"""The command `doctor`: checks whether a call can succeed, says what to do, and on demand asks gemini. Edge."""
