"""Sources of tools: data in every format, Python code, OpenAPI documents, MCP servers and lock files."""
