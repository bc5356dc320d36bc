"""How calls and the port live and end: side by side, cancelled, interrupted, with progress. Pure."""
