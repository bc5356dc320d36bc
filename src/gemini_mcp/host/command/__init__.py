"""`gemini-mcp-host`: a module for each group of subcommands, and what only they need. Effect."""
