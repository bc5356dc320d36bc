"""The reference implementation of the border between Gemini CLI and the Model Context Protocol."""
