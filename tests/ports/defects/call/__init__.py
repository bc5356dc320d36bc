"""What becomes of a call on its way to gemini."""
