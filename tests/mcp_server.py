"""An MCP server for tests: offers the tools of a JSON file, as that file is when they are asked for.

Those that stand in CALLED can be called, too.

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
import time
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

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

    counted: list[str] = []

    async def call_tool(_: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        counted.append(params.name)
        return CALLED[params.name](params.arguments or {}, counted)

    return Server("shop", on_list_tools=list_tools, on_call_tool=call_tool)


def text(said: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=said)], **more)


def late(seconds: float) -> types.CallToolResult:
    time.sleep(seconds)
    return text("at last")


def picture() -> types.CallToolResult:
    image = types.ImageContent(type="image", data="AAAA", mime_type="image/png")
    return types.CallToolResult(content=[types.TextContent(type="text", text="here"), image])


CALLED: dict[str, Callable[[dict[str, Any], list[str]], types.CallToolResult]] = {
    "add": lambda given, _: text("3", structured_content={"sum": given["a"] + given["b"]}),
    "count": lambda _, counted: text(str(counted.count("count"))),
    "fail": lambda _, __: text("out of pears", is_error=True),
    "huge": lambda given, _: text("x" * int(given["size"])),
    "leave": lambda _, __: os._exit(3),
    "picture": lambda _, __: picture(),
    "slow": lambda given, _: late(given["seconds"]),
    "variable": lambda given, _: text(os.environ.get(given["name"], "unset")),
}


async def over_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def over_http(server: Server[Any], token: str) -> None:
    import uvicorn

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
