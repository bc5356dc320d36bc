"""How calls and the port live and end: at once, in line, cancelled, interrupted."""
