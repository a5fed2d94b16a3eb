"""`environment: mcp`: tools called on the MCP servers that offer them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pytest_fcall.conversation.environments.context import EnvironmentContext, ResultRecorder, ResultStore, source_name
from pytest_fcall.conversation.execution.limits import EnvironmentFailed
from pytest_fcall.core.commands import install_command
from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.digests import canonical
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.schema.sources.lock_file import public_source, source_key

if TYPE_CHECKING:
    from pytest_fcall.conversation.environments.mcp_session import McpSession

Spec: TypeAlias = Mapping[str, Json]


class McpTool(NamedTuple):
    """A tool of an MCP server."""

    server: Spec
    name: str
    """Its name on the server."""
    session_key: str
    source: str
    """Identifies the server in keys of recorded results."""
    folder: Path
    """The folder of the file that names the server."""


class McpEnvironment:
    """The MCP servers of one conversation, with a session for each.

    A server may remember earlier calls, and may be under development. Its results are therefore only recorded for a
    replay of the same conversation.
    """

    def __init__(
        self, tools: Mapping[str, McpTool], sessions: Mapping[str, McpSession], store: ResultStore | None
    ) -> None:
        self._tools = tools
        self._sessions = sessions
        self._recorder = ResultRecorder(store, begin=store.conversation_key if store else "")

    async def call(self, name: str, arguments: Mapping[str, Json]) -> CallResult:
        """Call a tool on its server, or replay its result. Raises ResultNotRecorded and core.Unanswered."""
        tool = self._tools[name]
        call: dict[str, Json] = {"server": tool.source, "tool": tool.name, "arguments": arguments}
        return await self._recorder.result(
            name,
            call,
            lambda: self._sessions[tool.session_key].call(tool.name, arguments),
            shown={**call, "server": public_source({"mcp": tool.server})},
        )

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """An error: an MCP server has no state that can be read."""
        return CallResult(
            error=f"no {', '.join(names or ['state'])} can be read of an MCP server: expect what tools say"
        )

    async def close(self) -> None:
        """Close all sessions."""
        await asyncio.gather(*(session.close() for session in self._sessions.values()))


async def open_mcp(offered: Sequence[Tool], context: EnvironmentContext) -> McpEnvironment:
    """Connect to the servers of the tools, unless the run is offline. Raises EnvironmentFailed."""
    tools = {tool.name: _mcp_tool(tool, context.folder) for tool in offered}
    sessions: dict[str, McpSession] = {}
    environment = McpEnvironment(tools, sessions, context.result_store)
    if context.result_store and context.result_store.offline:
        return environment
    try:
        for tool in tools.values():
            if tool.session_key not in sessions:
                sessions[tool.session_key] = await _session(tool, context)
            _check_offered(tool.name, sessions[tool.session_key])
    except BaseException:  # cancellation, too
        await environment.close()
        raise
    return environment


def _check_offered(name: str, session: McpSession) -> None:
    if name not in session.tools:
        raise EnvironmentFailed(f"the MCP server no longer offers the tool `{name}`; run `fcall tools diff`")


def _mcp_tool(tool: Tool, case_folder: Path) -> McpTool:
    origin = tool.origin or {}
    server, folder = origin.get("mcp"), Path(str(origin.get("folder", case_folder)))
    if isinstance(server, Mapping):
        key = canonical([server, str(folder)])
        return McpTool(server, source_name(tool), key, source_key({"mcp": server}), folder)
    raise EnvironmentFailed(
        f"`environment: mcp` calls tools of an `mcp:` source, and `{tool.name}` is not one: take it from such a "
        "source, or give it a stub"
    )


async def _session(tool: McpTool, context: EnvironmentContext) -> McpSession:
    try:
        from pytest_fcall.conversation.environments.mcp_session import McpSession
    except ImportError as error:
        raise EnvironmentFailed(
            f"`environment: mcp` needs the package mcp, version 2 or newer ({error}): {install_command('mcp')}"
        ) from error
    return await McpSession.start(tool.server, tool.folder, context.limits)
