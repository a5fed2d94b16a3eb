"""An MCP server for tests: offers the tools of a JSON file, as that file is when they are asked for.

Those that stand in CALLED can be called, too.

python mcp_server.py TOOLS.json [--page N] [--token TOKEN] [--sdk | --http]

Pages hold N tools. With a token, it is wanted in the variable SHOP_TOKEN, or over HTTP in the header Authorization.
Over HTTP the port stands on the first line of standard output. The official SDK serves over HTTP, and with `--sdk` over
standard input and output; it takes so long to import that the messages are otherwise written here.
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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp import types
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Shop:
    """What the server offers and does, in the JSON of the protocol."""

    def __init__(self, tools: Path, page: int) -> None:
        self._tools = tools
        self._page = page
        self._counted: list[str] = []

    def list_tools(self, cursor: str | None) -> dict[str, Any]:
        start = int(cursor or 0)
        end = start + self._page
        offered = json.loads(self._tools.read_text(encoding="utf-8"))
        more = {"nextCursor": str(end)} if end < len(offered) else {}
        return {"tools": offered[start:end], **more}

    def call_tool(self, name: str, arguments: dict[str, Any] | None) -> dict[str, Any]:
        self._counted.append(name)
        return CALLED[name](arguments or {}, self._counted)


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], **more}


def late(seconds: float) -> dict[str, Any]:
    time.sleep(seconds)
    return text("at last")


def picture() -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "here"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]}


CALLED: dict[str, Callable[[dict[str, Any], list[str]], dict[str, Any]]] = {
    "add": lambda given, _: text("3", structuredContent={"sum": given["a"] + given["b"]}),
    "count": lambda _, counted: text(str(counted.count("count"))),
    "fail": lambda _, __: text("out of pears", isError=True),
    "huge": lambda given, _: text("x" * int(given["size"])),
    "leave": lambda _, __: os._exit(3),
    "picture": lambda _, __: picture(),
    "slow": lambda given, _: late(given["seconds"]),
    "variable": lambda given, _: text(os.environ.get(given["name"], "unset")),
}


def answer_each_line(shop: Shop) -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            answer = {"jsonrpc": "2.0", "id": asked["id"], **outcome(shop, asked["method"], asked.get("params", {}))}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def outcome(shop: Shop, method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "server/discover":
            version = params["_meta"]["io.modelcontextprotocol/protocolVersion"]
            result = {"capabilities": {"tools": {}}, "supportedVersions": [version]}
        case "tools/list":
            result = shop.list_tools(params.get("cursor"))
        case "tools/call":
            result = shop.call_tool(params["name"], params.get("arguments"))
        case _:
            return {"error": {"code": -32601, "message": "Method not found"}}
    return {"result": {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}}


def make_server(shop: Shop) -> Server[Any]:
    from mcp import types
    from mcp.server.lowlevel import Server

    async def list_tools(
        _: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate(shop.list_tools(params.cursor if params else None))

    async def call_tool(_: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        return types.CallToolResult.model_validate(shop.call_tool(params.name, params.arguments))

    return Server("shop", on_list_tools=list_tools, on_call_tool=call_tool)


async def over_stdio(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server

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
    parser.add_argument("--sdk", action="store_true")
    parser.add_argument("--http", action="store_true")
    options = parser.parse_args()
    shop = Shop(options.tools, options.page)
    if options.http:
        over_http(make_server(shop), options.token)
    elif options.token and os.environ.get("SHOP_TOKEN") != options.token:
        sys.exit("shop: SHOP_TOKEN is wrong")
    elif options.sdk:
        asyncio.run(over_stdio(make_server(shop)))
    else:
        answer_each_line(shop)


if __name__ == "__main__":
    main()
