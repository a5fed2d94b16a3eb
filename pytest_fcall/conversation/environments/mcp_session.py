"""One MCP server, started or called for one conversation."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from mcp import Client, MCPError
from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT, CallToolResult, TextContent

from pytest_fcall.conversation.execution.limits import Limits
from pytest_fcall.conversation.execution.tool_process import EnvironmentFailed
from pytest_fcall.core import CallResult, Json, Unanswered
from pytest_fcall.schema.sources.mcp_server import McpServer, list_all_tools, log_silenced, mcp_server

_PATIENCE = 10.0
"""Seconds for a server to end that was told to end; the library kills it before."""


class _QueuedCall(NamedTuple):
    tool: str
    arguments: Mapping[str, Json]
    result: asyncio.Future[CallResult]


class McpSession:
    """Calls tools of one server. Made by `start`, ended by `close`.

    The connection lives in a task of its own, so that it takes nobody with it when it breaks.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._orders: asyncio.Queue[_QueuedCall | None] = asyncio.Queue()
        self._ready: asyncio.Future[frozenset[str]] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self._why = "the MCP server was stopped"

    @classmethod
    async def start(cls, spec: Mapping[str, Json], folder: Path, limits: Limits) -> McpSession:
        """Connect, and see which tools there are; WorldFailed where that cannot be done."""
        session = cls(limits)
        session._task = asyncio.create_task(session._run(spec, folder))
        try:
            await session._until(session._ready)
        except BaseException:
            await session.close()
            raise
        if not session._ready.done():
            raise EnvironmentFailed(session._why)
        return session

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools that the server offers now."""
        return self._ready.result()

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Call a tool; core.Unanswered where the server is gone."""
        order = _QueuedCall(tool, arguments, asyncio.get_running_loop().create_future())
        self._orders.put_nowait(order)
        await self._until(order.result)
        if not order.result.done():
            raise Unanswered(self._why)
        return order.result.result()

    async def close(self) -> None:
        """End the connection, and the server if it was started."""
        if self._task is None:
            return
        self._orders.put_nowait(None)
        await asyncio.wait({self._task}, timeout=_PATIENCE)
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _until(self, done: asyncio.Future[Any]) -> None:
        """Wait for this, or for the end of the connection."""
        if self._task is not None:
            await asyncio.wait({done, self._task}, return_when=asyncio.FIRST_COMPLETED)

    async def _run(self, spec: Mapping[str, Json], folder: Path) -> None:
        with TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr, log_silenced("mcp"):
            server: McpServer | None = None
            try:
                server = mcp_server(spec, folder=folder, environment=os.environ, stderr=stderr)
                await self._serve(server)
            except Exception as error:  # an SDK and a stranger's server: anything may come up
                self._why = str(server.error(error, self._limits.start_seconds) if server else error)

    async def _serve(self, server: McpServer) -> None:
        async with asyncio.timeout(self._limits.start_seconds) as starting:
            async with server.client(self._limits.start_seconds) as client:
                names = frozenset(str(tool["name"]) for tool in await list_all_tools(client))
                starting.reschedule(None)
                server.goal = "a call was over"
                self._ready.set_result(names)
                while order := await self._orders.get():
                    order.result.set_result(await self._called(client, order))

    async def _called(self, client: Client, order: _QueuedCall) -> CallResult:
        seconds = self._limits.seconds
        try:
            async with asyncio.timeout(seconds + 1):  # where the library's own limit does not hold
                result = await client.call_tool(order.tool, dict(order.arguments), read_timeout_seconds=seconds)
        except TimeoutError:
            return CallResult(error=f"it took longer than {seconds:g} s")
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise
            late = error.code == REQUEST_TIMEOUT
            return CallResult(error=f"it took longer than {seconds:g} s" if late else error.message)
        return limit_result(executed_of(result), self._limits.result)


def executed_of(result: CallToolResult) -> CallResult:
    """What a result comes to: its structured content if it has any, else its texts."""
    said = [block.text if isinstance(block, TextContent) else f"[{block.type}]" for block in result.content]
    if result.is_error:
        return CallResult(error="\n".join(said) or "the tool failed and did not say why")
    if result.structured_content is not None:
        value: Json = result.structured_content
        return CallResult(value)
    return CallResult(said[0] if len(said) == 1 else list(said) or None)


def limit_result(result: CallResult, most: int) -> CallResult:
    """The result, unless it takes more than `most` bytes or is none that JSON can say."""
    try:
        size = len(json.dumps(result.value, allow_nan=False)) + len(result.error or "")
    except (TypeError, ValueError, RecursionError):
        return CallResult(error="the result cannot be told: it is no JSON")
    return result if size <= most else CallResult(error=f"the result cannot be told: it has more than {most:,} bytes")
