"""The parts of `gemini-mcp-host`: each function does one subcommand and returns its exit code. Effect."""
