"""A session with one MCP server, for one conversation."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from mcp import Client, MCPError
from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT, CallToolResult, TextContent
from pydantic import ValidationError

from pytest_fcall.conversation.execution.limits import CallLimits, EnvironmentFailed
from pytest_fcall.core.backend import Unanswered
from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.values import Json
from pytest_fcall.schema.sources.mcp_server import McpServer, list_all_tools, mcp_server, silence_log

_PATIENCE = 10.0
"""Seconds that a server has to end; the library kills it earlier."""


class _QueuedCall(NamedTuple):
    tool: str
    arguments: Mapping[str, Json]
    result: asyncio.Future[CallResult]


class McpSession:
    """Calls tools of one server. Made by `start`, ended by `close`.

    The connection runs in a task of its own, so that its failure does not cancel the conversation.
    """

    def __init__(self, spec: Mapping[str, Json], folder: Path, limits: CallLimits) -> None:
        self._limits = limits
        self._calls: asyncio.Queue[_QueuedCall | None] = asyncio.Queue()
        self._ready: asyncio.Future[frozenset[str]] = asyncio.get_running_loop().create_future()
        self._failure = "the MCP server was stopped"
        self._task = asyncio.create_task(self._run(spec, folder))

    @classmethod
    async def start(cls, spec: Mapping[str, Json], folder: Path, limits: CallLimits) -> McpSession:
        """Connect to the server and list its tools. Raises EnvironmentFailed."""
        session = cls(spec, folder, limits)
        try:
            await session._wait_for(session._ready)
        except BaseException:  # cancellation, too
            await session.close()
            raise
        if not session._ready.done():
            raise EnvironmentFailed(session._failure)
        return session

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools that the server offers."""
        return self._ready.result()

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Call a tool. Raises core.Unanswered where the connection has ended."""
        call = _QueuedCall(tool, arguments, asyncio.get_running_loop().create_future())
        self._calls.put_nowait(call)
        await self._wait_for(call.result)
        if not call.result.done():
            raise Unanswered(self._failure)
        return call.result.result()

    async def close(self) -> None:
        """End the connection, and the server if it was started."""
        self._calls.put_nowait(None)
        await asyncio.wait({self._task}, timeout=_PATIENCE)
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _wait_for(self, done: asyncio.Future[Any]) -> None:
        """Wait for `done`, or for the end of the connection."""
        await asyncio.wait({done, self._task}, return_when=asyncio.FIRST_COMPLETED)

    async def _run(self, spec: Mapping[str, Json], folder: Path) -> None:
        with TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr, silence_log("mcp"):
            server: McpServer | None = None
            try:
                server = mcp_server(spec, folder=folder, environment=os.environ, stderr=stderr)
                await self._serve(server)
            except Exception as error:  # the SDK and the server may raise anything
                self._failure = str(server.error(error, self._limits.start_seconds) if server else error)

    async def _serve(self, server: McpServer) -> None:
        async with asyncio.timeout(self._limits.start_seconds) as starting:
            async with server.client(self._limits.start_seconds) as client:
                names = frozenset(str(tool["name"]) for tool in await list_all_tools(client))
                starting.reschedule(None)
                server.goal = "a call was over"
                self._ready.set_result(names)
                while call := await self._calls.get():
                    server.unparsed_output.clear()
                    call.result.set_result(await self._call(client, call, server.unparsed_output))

    async def _call(self, client: Client, call: _QueuedCall, unparsed: Sequence[str]) -> CallResult:
        seconds = self._limits.seconds
        try:
            async with asyncio.timeout(seconds + 1):  # in case the limit of the library fails
                result = await client.call_tool(call.tool, dict(call.arguments), read_timeout_seconds=seconds)
        except TimeoutError:
            return _late(seconds, unparsed)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise
            return _late(seconds, unparsed) if error.code == REQUEST_TIMEOUT else CallResult(error=error.message)
        except ValidationError as error:
            where = ".".join(map(str, error.errors()[0]["loc"]))
            return CallResult(error=f"the server answered with no result of MCP ({where or 'all of it'} is wrong)")
        return limit_result(call_result_of(result), self._limits.result)


def _late(seconds: float, unparsed: Sequence[str]) -> CallResult:
    """The result of a call that was not answered, and what came instead: the library drops what it cannot read."""
    instead = "".join(f", and the server wrote what is no message of MCP: {line}" for line in unparsed)
    return CallResult(error=f"it took longer than {seconds:g} s{instead}")


def call_result_of(result: CallToolResult) -> CallResult:
    """The result of a call: its structured content if it has any, else its texts."""
    texts = [block.text if isinstance(block, TextContent) else f"[{block.type}]" for block in result.content]
    if result.is_error:
        return CallResult(error="\n".join(texts) or "the tool failed without a message")
    if result.structured_content is not None:
        value: Json = result.structured_content
        return CallResult(value)
    return CallResult(texts[0] if len(texts) == 1 else list(texts) or None)


def limit_result(result: CallResult, limit: int) -> CallResult:
    """The result, or an error where it has more than `limit` bytes or is not JSON."""
    try:
        size = len(json.dumps(result.value, allow_nan=False)) + len(result.error or "")
    except (TypeError, ValueError, RecursionError):
        return CallResult(error="the result is not JSON")
    return result if size <= limit else CallResult(error=f"the result has more than {limit:,} bytes")
