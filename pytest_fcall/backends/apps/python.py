"""`python:module:function`: the team's own app, found without being imported, then imported, and called in process."""

from __future__ import annotations

import importlib
import json
import marshal
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from inspect import isawaitable
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_fcall.backends.apps.answers.answer import reply_of
from pytest_fcall.backends.request_json import pretty_json, with_data_urls
from pytest_fcall.backends.settings import Option, volatile_option
from pytest_fcall.core.backend import ModelUnavailable
from pytest_fcall.core.pytest_outcome import is_pytest_outcome
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import AppRequest, Request, Tool
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.backends.apps.agents.agent import UnreadTool
    from pytest_fcall.core.extension import AgentKind


AppFunction: TypeAlias = Callable[[AppRequest], object]

OPTIONS: Mapping[str, Option] = MappingProxyType({"volatile": volatile_option()})
"""The only setting of an app in this process: all else is the app's own affair."""
_HOW_APPS_ARE_CALLED = (
    "an app is called with one argument, the request, which has `messages`, `tools`, `settings` and `now`"
)
_CALLED_IN_ASYNC_TEST = (
    "the app runs an event loop of its own, and was called in an async test: write a test without `async` that calls "
    "`fc_model(…)`, or an app with `async` that awaits"
)
_OWN_LOOP_IN_ASYNC_APP = (
    "the app is async, and something in it runs an event loop of its own: await it (`await agent.run(…)`, not "
    "`agent.run_sync(…)`), or write the app without `async`"
)


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
        """Call the app. Gives the reply, or a coroutine that gives it; an exception of the app is not caught.

        Raises ModelUnavailable where the app takes other arguments.
        """
        app = self._imported()
        started = time.perf_counter()
        if self._tools.tools is not request.tools:
            self._tools = CopyableTools(request.tools)
        handed = app_request(request, self._tools)
        messages = list(handed.messages)
        try:
            answer = app(handed)
        except TypeError as error:
            if error.__traceback__ and error.__traceback__.tb_next is None:  # the app was never entered
                raise ModelUnavailable(f"{error}; {_HOW_APPS_ARE_CALLED}") from None
            raise
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


_NO_AGENTS: Mapping[str, AgentKind] = MappingProxyType({})


def check_app(name: str, root: Path) -> None:
    """Raise ModelUnavailable where the module of `module:function` is nowhere to be found. Nothing is imported."""
    module_name, _ = _module_and_path(name, root)
    folders: Sequence[str] | None = None
    module = ""
    for part in module_name.split("."):
        module = f"{module}.{part}" if module else part
        inside = _folders_inside(module, folders)
        if inside is None:
            raise _no_module(name, module, part, [str(root)] if folders is None else folders, root)
        folders = inside


def _folders_inside(module: str, folders: Sequence[str] | None) -> Sequence[str] | None:
    """The folders of a module's own modules, none where it is no package; None where there is no such module."""
    if (loaded := sys.modules.get(module)) is not None:
        return getattr(loaded, "__path__", ())
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        if find and (spec := find(module, folders)):
            return spec.submodule_search_locations or ()
    return None


def _no_module(name: str, module: str, part: str, folders: Iterable[str], root: Path) -> ModelUnavailable:
    from pkgutil import iter_modules

    from pytest_fcall.core.message_text import clauses, nearest, suggestion

    meant = nearest(part, (found.name for found in iter_modules(folders)))
    question = suggestion(f"{module.removesuffix(part)}{meant}" if meant else None)
    searched = f"searched in {root} and on sys.path"
    return ModelUnavailable(clauses(f"python:{name}: no module {module!r}", searched, question))


def _module_and_path(name: str, root: Path) -> tuple[str, str]:
    """The parts of `module:function`; modules in the root folder become importable. Raises ModelUnavailable."""
    module_name, colon, path = name.partition(":")
    if not (colon and module_name and path):
        raise ModelUnavailable(f"python:{name}: write python:module:function, such as python:shop.agent:answer")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return module_name, path


def find_app(name: str, root: Path, agents: Mapping[str, AgentKind] = _NO_AGENTS) -> AppFunction:
    """Import the function or agent `module:name`; `agents` are those of other packages. Raises ModelUnavailable."""
    found = find_object(name, root)
    app = app_of(found, agents)
    if app is None:
        from pytest_fcall.backends.apps.agents.agent import known_agents

        text = f"{name.partition(':')[2]} is of type {type(found).__name__}, which cannot be called"
        raise ModelUnavailable(f"python:{name}: {text}; name a function, or an agent of {known_agents(agents)}")
    return app


def app_of(thing: object, agents: Mapping[str, AgentKind] = _NO_AGENTS) -> AppFunction | None:
    """The app that this is: an agent, called as its framework wants it, or what can be called; None if it is none."""
    if not isinstance(thing, FunctionType):
        from pytest_fcall.backends.apps.agents.agent import AgentApp, agent_kind

        if kind := agent_kind(thing, agents):
            return AgentApp(thing, kind)
    return thing if callable(thing) else None


def find_object(name: str, root: Path) -> object:
    """Import `module:name`, also from the root folder. Raises ModelUnavailable with what to do."""
    module_name, path = _module_and_path(name, root)
    try:
        target: object = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise _import_failure(name, module_name, root, error) from error
        raise ModelUnavailable(f"python:{name}: no module {error.name!r}; searched in {root} and on sys.path") from None
    except BaseException as error:
        if isinstance(error, Exception | SystemExit) or is_pytest_outcome(error):
            raise _import_failure(name, module_name, root, error) from error
        raise
    for part in path.split("."):
        try:
            target = getattr(target, part)
        except AttributeError:
            from pytest_fcall.core.message_text import clauses, did_you_mean

            question = did_you_mean(part, (other for other in dir(target) if not other.startswith("_")))
            raise ModelUnavailable(clauses(f"python:{name}: {module_name} has no {path!r}", question)) from None
    return target


def agent_tools(name: str, root: Path, source: str) -> tuple[list[Tool], list[UnreadTool]]:
    """Import the agent `module:name`, and read its tools, and what it offers besides. Raises SchemaError."""
    from pytest_fcall.backends.apps.agents.agent import agent_kind, known_agents, read_agent_tools
    from pytest_fcall.core.provider_variables import with_placeholder_keys
    from pytest_fcall.schema.errors import SchemaError

    if ":" not in name:
        raise SchemaError(f"`agent` names an object as module:name, not {name!r}", hint="such as shop.agent:agent")
    with with_placeholder_keys():
        try:
            agent = find_object(name, root)
        except ModelUnavailable as error:
            raise SchemaError(str(error).removeprefix(f"python:{name}: ")) from None
        kind = agent_kind(agent)
        if kind is None:
            message = f"this is a {type(agent).__name__}, and no agent of {known_agents()}"
            raise SchemaError(message, hint="name functions, or a list of them, by `python:`")
        try:
            return read_agent_tools(agent, kind, source)
        except SchemaError:
            raise
        except Exception as error:  # the code of a framework
            raise SchemaError(f"its tools cannot be read: {type(error).__name__}: {error}") from error


def _import_failure(name: str, module: str, root: Path, error: BaseException) -> ModelUnavailable:
    """The error of a module that fails, with the place in the project."""
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(root)]
    place = f" at {Path(own[-1].filename).relative_to(root)}:{own[-1].lineno}" if own else ""
    return ModelUnavailable(f"python:{name}: importing {module} fails{place}: {type(error).__name__}: {error}")
