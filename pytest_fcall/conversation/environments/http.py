"""`environment: http`: calls that are requests over HTTP. Nothing is sent to a host that was not allowed by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_fcall.conversation.environments.context import EnvironmentContext, source_name
from pytest_fcall.conversation.environments.http_request import (
    HttpRequest,
    NotSendable,
    http_request_of,
    is_sendable,
    server_of,
)
from pytest_fcall.conversation.environments.recorded_results import ResultRecorder
from pytest_fcall.conversation.execution.limits import EnvironmentFailed
from pytest_fcall.core import Call, CallResult, ConversationSettings, Json, Tool
from pytest_fcall.schema.errors import SchemaError

if TYPE_CHECKING:
    from pytest_fcall.conversation.environments.http_sender import HttpSender


class HttpEnvironment:
    """Sends calls as requests. A recorded answer to the same request at the same point is used again, like a reply."""

    def __init__(self, tools: Mapping[str, Tool], server: str, context: EnvironmentContext) -> None:
        self._tools = tools
        self._server = server
        self._context = context
        self._recorder = ResultRecorder(context.result_store, reuse=True)
        self._sender: HttpSender | None = None

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Send a request, or look up its recorded answer. Raises ResultNotRecorded and core.Unanswered."""
        offered = self._tools[tool]
        try:
            call = Call(source_name(offered), arguments)
            request = http_request_of(call, offered, self._server or server_of(offered))
        except NotSendable as error:
            return CallResult(error=str(error))
        return await self._recorder.result(
            tool, request.to_data(), lambda: self._send(request), changes=request.changes
        )

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """An error: a web server has no state that can be read."""
        return CallResult(
            error=f"no {', '.join(names or ['state'])} can be read of a web server: expect what tools say"
        )

    async def close(self) -> None:
        """Close all connections."""
        if self._sender is not None:
            await self._sender.close()

    async def _send(self, request: HttpRequest) -> CallResult:
        if self._sender is None:
            from pytest_fcall.conversation.environments.http_sender import HttpSender

            self._sender = HttpSender(self._context.hosts, self._context.limits)
        return await self._sender.send(request)


def open_http(settings: ConversationSettings, tools: Sequence[Tool], context: EnvironmentContext) -> HttpEnvironment:
    """Make the environment of these tools. Raises EnvironmentFailed for a tool or a server that cannot be asked."""
    server = settings.setup.get("server", "")
    if not isinstance(server, str) or settings.setup.keys() - {"server"}:
        raise EnvironmentFailed("the `setup` of `environment: http` must be `server: ADDRESS` and nothing else")
    for tool in tools:
        _check_sendable(tool, server)
    if not (context.result_store and context.result_store.offline):
        for each in {server} if server else {*map(server_of, tools)}:
            _check_host(each, context)
    return HttpEnvironment({tool.name: tool for tool in tools}, server, context)


def _check_sendable(tool: Tool, server: str) -> None:
    if not is_sendable(tool):
        raise EnvironmentFailed(
            f"`environment: http` sends requests, and the tool `{tool.name}` is not one: take it from an `openapi:` "
            "source, or give it a stub"
        )
    if not (server or server_of(tool) or source_name(tool).startswith("requests.")):
        raise EnvironmentFailed(f"no server for `{tool.name}`; name it: `setup: {{server: https://…}}`")


def _check_host(server: str, context: EnvironmentContext) -> None:
    """Refuse a server before the model is asked: people can allow it, a model cannot."""
    from yarl import URL

    from pytest_fcall.conversation.environments.http_hosts import HostRefused

    if not server:
        return
    try:
        context.hosts.check(URL(server))
        context.hosts.headers_for(URL(server))
    except (HostRefused, SchemaError) as error:
        raise EnvironmentFailed(str(error)) from None
    except ValueError as error:
        raise EnvironmentFailed(f"{server!r} is not the address of a web server: {error}") from None
