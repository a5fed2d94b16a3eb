"""An MCP server on standard input and output that answers with whatever text stands in a file, by the tool's name.

python mcp_server.py RESULTS.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HELLO = (
    '{"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "any", "version": "1"}}'
)


def main() -> None:
    results: dict[str, str] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    tools = json.dumps({"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in results]})
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        match message["method"]:
            case "initialize":
                said = f'"result": {HELLO}'
            case "tools/list":
                said = f'"result": {results.get("", tools)}'
            case "tools/call":
                said = f'"result": {results[message["params"]["name"]]}'
            case _:
                said = '"error": {"code": -32601, "message": "no such method"}'
        sys.stdout.write(f'{{"jsonrpc": "2.0", "id": {json.dumps(message["id"])}, {said}}}\n')
        sys.stdout.flush()


if __name__ == "__main__":
    main()
