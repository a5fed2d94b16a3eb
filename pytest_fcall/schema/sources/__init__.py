"""Where tools come from: data of every shape, Python code, OpenAPI documents, MCP servers and their lock files."""
