"""Gemini CLI's MCP host layer: settings in, registered tools and model parts out; pure unless a module says not."""
