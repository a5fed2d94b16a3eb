"""`environment: http`: calls that are requests over HTTP. Nothing is sent to a host that was not allowed by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_fcall.conversation.environments.context import EnvironmentContext, source_name
from pytest_fcall.conversation.environments.http_request import (
    HttpRequest,
    NotSendable,
    http_request_of,
    is_sendable,
    server_of,
)
from pytest_fcall.conversation.environments.recorded_results import CallHistory, ResultNotRecorded, ResultStore
from pytest_fcall.conversation.execution.tool_process import EnvironmentFailed
from pytest_fcall.core import Call, CallResult, Json, Tool, World
from pytest_fcall.schema.errors import SchemaError

if TYPE_CHECKING:
    from pytest_fcall.conversation.environments.http_sender import HttpSender


class HttpEnvironment:
    """Calls that are requests. What was said to the same request at the same point is used again, like replies."""

    def __init__(
        self, tools: Mapping[str, Tool], server: str, sender: HttpSender | None, kept: ResultStore | None
    ) -> None:
        self._tools = tools
        self._server = server
        self._sender = sender
        self._kept = kept
        self._story = CallHistory("")

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Send a request, or look up what was said to it. Raises NotRecorded, and core.Unanswered."""
        offered = self._tools[tool]
        try:
            call = Call(source_name(offered), arguments)
            request = http_request_of(call, offered, self._server or server_of(offered))
        except NotSendable as error:
            return CallResult(error=str(error))
        key = self._story.key(request.to_data(), changes=request.changes)
        if self._kept and (found := self._kept.find(key)):
            return found
        return await self._sent(tool, key, request)

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """A server shows no state."""
        return CallResult(
            error=f"no {', '.join(names or ['state'])} can be read of a web server: expect what tools say"
        )

    async def close(self) -> None:
        """Close all connections."""
        if self._sender:
            await self._sender.close()

    async def _sent(self, tool: str, key: str, request: HttpRequest) -> CallResult:
        if self._sender is None:
            raise ResultNotRecorded(tool)
        result = await self._sender.send(request)
        if self._kept:
            self._kept.keep(key, request.to_data(), result)
        return result


async def open_http(world: World, tools: Sequence[Tool], ground: EnvironmentContext) -> HttpEnvironment:
    """Get ready to ask the servers of the tools, unless what is kept must do. Raises WorldFailed."""
    server = world.setup.get("server", "")
    if not isinstance(server, str) or world.setup.keys() - {"server"}:
        raise EnvironmentFailed("`environment: http` is set up with nothing but `server`, an address")
    for tool in tools:
        _check_sendable(tool, server)
    named = {tool.name: tool for tool in tools}
    if ground.kept and ground.kept.offline:
        return HttpEnvironment(named, server, None, ground.kept)
    _check_hosts(filter(None, {server} if server else set(map(server_of, tools))), ground)
    from pytest_fcall.conversation.environments.http_sender import HttpSender

    return HttpEnvironment(named, server, HttpSender(ground.hosts, ground.limits), ground.kept)


def _check_sendable(tool: Tool, server: str) -> None:
    if not is_sendable(tool):
        raise EnvironmentFailed(
            f"`environment: http` sends requests, and the tool `{tool.name}` is none: take it from an `openapi:` "
            "source, or give it a stub"
        )
    if not (server or server_of(tool) or source_name(tool).startswith("requests.")):
        raise EnvironmentFailed(f"nothing says which server `{tool.name}` is asked of: `setup: {{server: https://…}}`")


def _check_hosts(servers: Iterable[str], ground: EnvironmentContext) -> None:
    """Tell people before a model is told."""
    from yarl import URL

    from pytest_fcall.conversation.environments.http_hosts import HostRefused

    for server in servers:
        try:
            ground.hosts.check(URL(server))
            ground.hosts.headers_for(URL(server))
        except (HostRefused, SchemaError) as error:
            raise EnvironmentFailed(str(error)) from None
        except ValueError as error:
            raise EnvironmentFailed(f"{server!r} is no address of a web server: {error}") from None
