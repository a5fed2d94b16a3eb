"""An MCP server for tests: offers the tools of a JSON file, as that file is when they are asked for.

python mcp_server.py TOOLS.json [--page N] [--token TOKEN] [--http]

Pages hold N tools. With a token, it is wanted in the variable SHOP_TOKEN, or over HTTP in the header Authorization.
Over HTTP the port stands on the first line of standard output.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import uvicorn
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def make_server(tools: Path, page: int) -> Server[Any]:
    async def list_tools(
        _: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        start = int(params.cursor) if params is not None and params.cursor else 0
        offered = json.loads(tools.read_text(encoding="utf-8"))
        more = str(start + page) if start + page < len(offered) else None
        shown = [types.Tool.model_validate(tool) for tool in offered[start : start + page]]
        return types.ListToolsResult(tools=shown, next_cursor=more)

    return Server("shop", on_list_tools=list_tools)


async def over_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def over_http(server: Server[Any], token: str) -> None:
    app = server.streamable_http_app()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        allowed = not token or (b"authorization", f"Bearer {token}".encode()) in scope.get("headers", [])
        if scope["type"] == "lifespan" or allowed:
            await app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    listening = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(guarded, log_level="error")).run(sockets=[listening])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=Path)
    parser.add_argument("--page", type=int, default=100)
    parser.add_argument("--token", default="")
    parser.add_argument("--http", action="store_true")
    options = parser.parse_args()
    server = make_server(options.tools, options.page)
    if options.http:
        over_http(server, options.token)
    elif options.token and os.environ.get("SHOP_TOKEN") != options.token:
        sys.exit("shop: SHOP_TOKEN is wrong")
    else:
        asyncio.run(over_stdio(server))


if __name__ == "__main__":
    main()
