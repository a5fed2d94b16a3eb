"""The environments that carry out the calls of a conversation: a process, MCP servers, servers over HTTP."""
