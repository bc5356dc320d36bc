"""The fake gemini that ports call in place of the real one."""
