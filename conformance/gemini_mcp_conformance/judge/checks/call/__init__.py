"""What becomes of a call on its way to gemini: arguments, command line, files and directory. Pure."""
