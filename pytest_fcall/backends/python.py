"""`python:module:function`: the team's own app or agent, called in process."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from inspect import isawaitable
from pathlib import Path
from traceback import extract_tb
from types import MappingProxyType
from typing import Any, cast

from pytest_fcall.backends.answers import reply_of
from pytest_fcall.backends.images import with_data_urls
from pytest_fcall.backends.showing import json_text
from pytest_fcall.core import Json, Model, ModelUnavailable, Reply, Request, Tool

App = Callable[["AppRequest"], object]


@dataclass(frozen=True, slots=True)
class AppRequest:
    """What an app is handed: plain lists and dicts in OpenAI's form, its own to change."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    settings: dict[str, Any] = field(default_factory=dict)
    now: datetime | None = None
    """The case's clock: what the app should take for the present."""


class PythonBackend:
    """Calls `app`, or the function that `model` names, which is imported with the first request."""

    settings: Mapping[str, Json] = MappingProxyType({})
    reusable = False
    ahead = False

    def __init__(self, find: Callable[[], App]) -> None:
        self._find = find
        self._app: App | None = None
        self._missing = ""
        """Why there is no app: a module that fails is not run again for every case."""
        self._catalogue = Catalogue(())

    async def complete(self, request: Request) -> Reply:
        """Answer by calling the app; what it raises is left to rise."""
        app = self._found()
        started = time.perf_counter()
        if self._catalogue.tools is not request.tools:
            self._catalogue = Catalogue(request.tools)
        asked = app_request(request, self._catalogue)
        given = list(asked.messages)
        answer = app(asked)
        reply = reply_of(await answer if isawaitable(answer) else answer, given)
        return replace(reply, seconds=time.perf_counter() - started)

    def _found(self) -> App:
        if self._missing:
            raise ModelUnavailable(self._missing)
        if self._app is None:
            try:
                self._app = self._find()
            except ModelUnavailable as error:
                self._missing = str(error)
                raise
        return self._app

    def prompt(self, request: Request) -> str:
        """What the app is handed."""
        return json_text(asdict(app_request(request, Catalogue(request.tools))))

    async def close(self) -> None:
        """Nothing to give back: the app is the user's."""


def python_backend(model: Model, root: Path) -> PythonBackend:
    """Make the backend of `python:module:function`."""
    return PythonBackend(partial(find_app, model.name, root))


class Catalogue:
    """Tools in OpenAI's form, kept as text: reading it again is the fastest way to a copy that an app may change."""

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self.tools = tools
        self._text = json.dumps([{"type": "function", "function": _function(tool)} for tool in tools])

    def copy(self) -> list[dict[str, Any]]:
        """Give the tools as new lists and dicts."""
        return cast("list[dict[str, Any]]", json.loads(self._text))


def app_request(request: Request, catalogue: Catalogue) -> AppRequest:
    """Put a Request, whose tools the catalogue holds, into the plain form that apps are handed."""
    return AppRequest(
        messages=[_copy(with_data_urls(message)) for message in request.messages],
        tools=catalogue.copy(),
        settings=_copy(request.settings),
        now=request.now,
    )


def _function(tool: Tool) -> dict[str, Json]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def find_app(name: str, root: Path) -> App:
    """Import `module:function`; the root folder is importable. Raises ModelUnavailable with what to do."""
    module_name, colon, path = name.partition(":")
    if not (colon and module_name and path):
        raise ModelUnavailable(f"python:{name}: write python:module:function, such as python:shop.agent:answer")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    try:
        found: object = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise _failing(name, module_name, root, error) from error
        raise ModelUnavailable(
            f"python:{name}: there is no module {error.name!r}; looked in {root} and on sys.path"
        ) from None
    except (Exception, SystemExit) as error:
        raise _failing(name, module_name, root, error) from error
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise ModelUnavailable(f"python:{name}: {module_name} has no {path!r}") from None
    if not callable(found):
        raise ModelUnavailable(f"python:{name}: {path} is a {type(found).__name__}, which cannot be called")
    return found


def _failing(name: str, module: str, root: Path, error: BaseException) -> ModelUnavailable:
    """Say what a module breaks on, and where in the project."""
    frames = extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(root)]
    place = f" at {Path(own[-1].filename).relative_to(root)}:{own[-1].lineno}" if own else ""
    return ModelUnavailable(f"python:{name}: importing {module} fails{place}: {type(error).__name__}: {error}")


def _copy(value: Json | Mapping[str, Json]) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copy(item) for item in value]
    return value
