"""The tools that an MCP server offers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile

import anyio
from mcp import Client

from pytest_fcall.core import Json
from pytest_fcall.schema.sources.mcp_server import McpServer, mcp_server, unlogged

_PAGES = 1000


def list_mcp_tools(
    server: Mapping[str, Json], *, folder: Path, environment: Mapping[str, str], timeout: float = 30.0
) -> list[dict[str, Json]]:
    """Ask a server for all its tools, as the items of its `tools/list` results; it is stopped again.

    `server` is what `mcp_server` takes. Whatever goes wrong is a SchemaError that says so in words.
    """
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr, unlogged("mcp"):
        peer = mcp_server(server, folder=folder, environment=environment, stderr=stderr)
        try:
            return anyio.run(_listed, peer, timeout)
        except Exception as error:  # an SDK and a stranger's server: anything may come up
            raise peer.explained(error, timeout) from error


async def all_tools(client: Client) -> list[dict[str, Json]]:
    """The tools that a server offers, from all pages."""
    tools: list[dict[str, Json]] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return tools
    raise RecursionError(f"more than {_PAGES} pages of tools")


async def _listed(peer: McpServer, timeout: float) -> list[dict[str, Json]]:
    with anyio.fail_after(timeout):
        async with peer.connected(timeout) as client:
            return await all_tools(client)
