"""Tools that are called on the MCP servers that offered them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_fcall.conversation.environments.context import EnvironmentContext, source_name
from pytest_fcall.conversation.environments.recorded_results import CallHistory, ResultNotRecorded, ResultStore
from pytest_fcall.conversation.execution.tool_process import EnvironmentFailed
from pytest_fcall.core import CallResult, Json, Tool, canonical
from pytest_fcall.schema.sources.lock_file import public_source, source_key

if TYPE_CHECKING:
    from pytest_fcall.conversation.environments.mcp_session import McpSession

Spec = Mapping[str, Json]


class McpEnvironment:
    """The servers of one conversation, a session for each, and the tools by the names under which they were offered.

    A server may answer by what it was told before, and is the team's own code, which may have changed. So results are
    kept for a replay of this very conversation, and for nothing else.
    """

    def __init__(
        self, tools: Mapping[str, tuple[Spec, str]], sessions: Mapping[str, McpSession], kept: ResultStore | None
    ):
        self._tools = tools
        self._sessions = sessions
        self._kept = kept
        self._story = CallHistory(kept.conversation if kept else "")

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Call a tool on its server, or look up what it came to. Raises NotRecorded, and core.Unanswered."""
        spec, name = self._tools[tool]
        call: dict[str, Json] = {"server": source_key({"mcp": spec}), "tool": name, "arguments": arguments}
        try:
            key = self._story.key(call, changes=True)
        except (ValueError, RecursionError) as error:
            return CallResult(error=f"the arguments cannot be sent: {error}")
        if self._kept is None:
            return await self._sessions[canonical(spec)].call(name, arguments)
        if self._kept.offline:
            return self._found(tool, key, self._kept)
        result = await self._sessions[canonical(spec)].call(name, arguments)
        self._kept.keep(key, {**call, "server": public_source({"mcp": spec})}, result)
        return result

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """An MCP server shows no state."""
        return CallResult(
            error=f"no {', '.join(names or ['state'])} can be read of an MCP server: expect what tools say"
        )

    async def close(self) -> None:
        """End all sessions."""
        await asyncio.gather(*(session.close() for session in self._sessions.values()))

    def _found(self, tool: str, key: str, kept: ResultStore) -> CallResult:
        result = kept.find(key)
        if result is None:
            raise ResultNotRecorded(tool)
        return result


async def open_mcp(tools: Sequence[Tool], ground: EnvironmentContext) -> McpEnvironment:
    """Connect to the servers of the tools, unless what is kept must do. Raises WorldFailed."""
    sources = {tool.name: (_spec(tool), source_name(tool)) for tool in tools}
    if ground.kept and ground.kept.offline:
        return McpEnvironment(sources, {}, ground.kept)
    sessions: dict[str, McpSession] = {}
    environment = McpEnvironment(sources, sessions, ground.kept)
    try:
        for spec, name in sources.values():
            if (key := canonical(spec)) not in sessions:
                sessions[key] = await _session(spec, ground)
            _check_offered(name, sessions[key])
    except BaseException:
        await environment.close()
        raise
    return environment


async def _session(spec: Spec, ground: EnvironmentContext) -> McpSession:
    try:
        from pytest_fcall.conversation.environments.mcp_session import McpSession
    except ImportError as error:
        raise EnvironmentFailed(
            f"MCP servers are called through the package mcp, version 2 or newer ({error}): "
            "pip install 'pytest-fcall[mcp]'"
        ) from error
    return await McpSession.start(spec, ground.folder, ground.limits)


def _check_offered(name: str, session: McpSession) -> None:
    if name not in session.tools:
        raise EnvironmentFailed(f"the MCP server offers no tool `{name}` any more; run `fcall tools diff`")


def _spec(tool: Tool) -> Spec:
    spec = (tool.origin or {}).get("mcp")
    if isinstance(spec, Mapping):
        return spec
    raise EnvironmentFailed(
        f"`environment: mcp` calls the tools of MCP servers, and `{tool.name}` is none: take it from an `mcp:` source, "
        "or give it a stub"
    )
