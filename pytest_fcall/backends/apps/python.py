"""`python:module:function`: the team's own app, called in process."""

from __future__ import annotations

import json
import marshal
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from inspect import isawaitable
from types import MappingProxyType
from typing import Any, TypeAlias

from pytest_fcall.backends.apps.answers.answer import reply_of
from pytest_fcall.backends.request_json import with_data_urls
from pytest_fcall.core import Json, ModelUnavailable, Reply, Request, Tool
from pytest_fcall.core.app import AppRequest

AppFunction: TypeAlias = Callable[[AppRequest], object]


class PythonBackend:
    """Calls the app that `import_app` returns; the first request imports it."""

    settings: Mapping[str, Json] = MappingProxyType({})
    reusable = False
    ahead = False

    def __init__(self, import_app: Callable[[], AppFunction], check: Callable[[], None] = lambda: None) -> None:
        self._import = import_app
        self.check = check
        """Raises ModelUnavailable where there is no such module. Nothing is imported, as the app's imports may need
        the fixtures of the first test."""
        self._app: AppFunction | None = None
        self._import_failure = ""
        """Kept, so that a failing module is not run again for every case."""
        self._tools = CopyableTools(())

    def call(self, request: Request) -> Reply | Coroutine[Any, None, Reply]:
        """Call the app. Gives the reply, or a coroutine that gives it; an exception of the app is not caught."""
        app = self._imported()
        started = time.perf_counter()
        if self._tools.tools is not request.tools:
            self._tools = CopyableTools(request.tools)
        handed = app_request(request, self._tools)
        messages = list(handed.messages)
        answer = app(handed)
        if isawaitable(answer):
            return _awaited_reply(answer, messages, started)
        return reply_of(answer, messages, time.perf_counter() - started)

    async def complete(self, request: Request) -> Reply:
        """Answer by calling the app, within the event loop of an async test. An exception of the app is not caught."""
        with _loop_advice(_CALLED_IN_ASYNC_TEST):
            reply = self.call(request)
        return reply if isinstance(reply, Reply) else await reply

    def prompt(self, request: Request) -> str:
        """The request as the app gets it."""
        from pytest_fcall.backends.request_json import pretty_json

        return pretty_json(asdict(app_request(request, CopyableTools(request.tools))))

    def note(self) -> str:
        """A line on what the app and the cases differ in, where it is an agent; else nothing."""
        note: Callable[[], str] | None = getattr(self._app, "note", None)
        return note() if note else ""

    async def close(self) -> None:
        """Do nothing: the backend holds no resources."""

    def _imported(self) -> AppFunction:
        if self._import_failure:
            raise ModelUnavailable(self._import_failure)
        if self._app is None:
            try:
                self._app = self._import()
            except ModelUnavailable as error:
                self._import_failure = str(error)
                raise
        return self._app


async def _awaited_reply(answer: Awaitable[object], messages: list[dict[str, Any]], started: float) -> Reply:
    with _loop_advice(_OWN_LOOP_IN_ASYNC_APP):
        answered = await answer
    return reply_of(answered, messages, time.perf_counter() - started)


_CALLED_IN_ASYNC_TEST = (
    "the app runs an event loop of its own, and was called in an async test: write a test without `async` that calls "
    "`fc_model(…)`, or an app with `async` that awaits"
)
_OWN_LOOP_IN_ASYNC_APP = (
    "the app is async, and something in it runs an event loop of its own: await it (`await agent.run(…)`, not "
    "`agent.run_sync(…)`), or write the app without `async`"
)


@contextmanager
def _loop_advice(advice: str) -> Iterator[None]:
    """Add to Python's error what to do where an event loop was to run inside another one."""
    try:
        yield
    except RuntimeError as error:
        if "event loop" in str(error) and advice not in getattr(error, "__notes__", ()):
            error.add_note(advice)
        raise


class CopyableTools:
    """Tools in OpenAI's form, marshalled: that is the fastest way to a copy that an app may change."""

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self.tools = tools
        functions = (
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools
        )
        text = json.dumps([{"type": "function", "function": function} for function in functions])
        self._data = marshal.dumps(json.loads(text))

    def copy(self) -> list[dict[str, Any]]:
        """The tools as new lists and dicts."""
        tools: list[dict[str, Any]] = marshal.loads(self._data)  # noqa: S302 - made above
        return tools


def app_request(request: Request, tools: CopyableTools) -> AppRequest:
    """The request as an app gets it; `tools` are its tools."""
    return AppRequest(
        messages=[_deep_copy(with_data_urls(message)) for message in request.messages],
        tools=tools.copy(),
        settings=_deep_copy(request.settings),
        now=request.now,
    )


def _deep_copy(value: Json | Mapping[str, Json]) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, Mapping)):  # the test for a mapping takes ten times as long
        return {key: _deep_copy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_deep_copy(item) for item in value]
    return value
