module gemini-mcp-server

go 1.19
