"""The program of the process in which functions are called: reads lines of JSON, and answers each with a line of JSON.

It imports little, since every conversation with an environment waits for it.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader, BufferedWriter
from numbers import Number
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from pytest_fcall.conversation.execution.plain_json import NotPlain, json_text
from pytest_fcall.conversation.execution.sandbox import SandboxRules, SandboxUnavailable, enter_sandbox

if TYPE_CHECKING:
    from asyncio import Runner

    from pytest_fcall.core.values import Json

_GRACE_SECONDS: Final = 2.0
"""Seconds that the parent has to end the process itself, and to say why."""
_LONGEST_MESSAGE: Final = 2_000
_OUR_FRAMES: Final = ("<frozen importlib", os.path.dirname(__file__), os.path.dirname(importlib.__file__))  # noqa: PTH120  # pathlib costs a millisecond
_LISTS: Final = (list, tuple, set, frozenset)
_DATA: Final = (Number, str, Mapping, *_LISTS, type(None))
_LONGEST_NAME: Final = 100
"""Characters of a name for which a similar one is suggested."""


def main() -> None:
    """Make the environment, and answer calls until the parent closes the channel."""
    messages, answers = _channel()
    spec = json.loads(messages.readline())
    limit, seconds, root = spec["result"], spec["seconds"], spec["root"]
    try:
        held = enter_sandbox(SandboxRules.from_data(spec["sandbox"]), spec["parent"])
    except (SandboxUnavailable, OSError) as missing:
        remedy = "; `fc_walls = weaker` calls them all the same" if isinstance(missing, SandboxUnavailable) else ""
        text = f"this machine cannot hold called functions: {missing}{remedy}"
        _write_answer(answers, 0, f'"error": {json.dumps(text)}')
        return
    try:
        with _kernel_time_limit(spec["start_seconds"]):
            environment = _LoadedEnvironment(spec["environment"], spec["setup"], spec["functions"])
    except BaseException as error:  # code of the environment may raise anything, SystemExit too
        place = _error_place(error, root)
        _write_answer(answers, 0, f'"error": {json.dumps(_error_text(error) + (f" ({place})" if place else ""))}')
        return
    _write_answer(answers, 0, f'"value": {json.dumps(held)}')
    for number, line in enumerate(messages, 1):
        with _kernel_time_limit(seconds):
            answer = _answer(environment, json.loads(line), limit, root)
        _write_answer(answers, number, answer)


@contextmanager
def _kernel_time_limit(seconds: float) -> Iterator[None]:
    """Have the kernel end this process some time after `seconds`, in case the parent is gone. Not on Windows."""
    _set_alarm(seconds + _GRACE_SECONDS)
    yield
    _set_alarm(0)


def _set_alarm(seconds: float) -> None:
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _channel() -> tuple[BufferedReader, BufferedWriter]:
    """Keep the pipes to the parent for messages only: prints go to standard error, and standard input is empty."""
    messages, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return messages, answers


def _answer(environment: _LoadedEnvironment, message: dict[str, Any], limit: int, root: str) -> str:
    place = None
    try:
        if "state" in message:
            value: object = environment.state(message["state"])
        else:
            value = environment.call(message["call"], message["arguments"])
        return f'"value": {json_text(value, limit)}'
    except _NoSuchName as error:
        text = str(error)
    except NotPlain as error:
        text = f"the result cannot be returned: {error}"
    except BaseException as error:  # a called function may raise anything, SystemExit too
        text, place = _error_text(error), _error_place(error, root)
    return f'"error": {json.dumps(text)}, "place": {json.dumps(place)}'


def _error_text(error: BaseException) -> str:
    """The type and the text of an exception; the type alone where its `__str__` fails."""
    if isinstance(error, _NoSuchName):
        return str(error)
    name = type(error).__name__
    try:
        text = str.__str__(str(error))[:_LONGEST_MESSAGE]
    except BaseException:  # `__str__` is the called function's own
        return name
    return f"{name}: {text}" if text else name


def _error_place(error: BaseException, root: str) -> str | None:
    """The file and line in the project's own code where an exception was raised."""
    from traceback import extract_tb

    frames = [frame for frame in extract_tb(error.__traceback__) if not frame.filename.startswith(_OUR_FRAMES)]
    return f"{frames[-1].filename.removeprefix(root + os.sep)}, line {frames[-1].lineno}" if frames else None


def _write_answer(answers: BufferedWriter, number: int, answer: str) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the called function may have closed or replaced it
            stream.flush()
    answers.write(f'{{"number": {number}, {answer}}}\n'.encode())
    answers.flush()


class _NoSuchName(LookupError):
    """A name does not exist or is not public. The text says so."""


class _LoadedEnvironment:
    """The object that a factory made, or a module, and plain functions."""

    def __init__(self, environment: str | None, setup: Mapping[str, Json], functions: Mapping[str, str]) -> None:
        self._runner: Runner | None = None
        self._functions = {tool: _import_function(target) for tool, target in functions.items()}
        self._object = None if environment is None else self._make_object(environment, setup)

    def call(self, tool: str, arguments: Mapping[str, Json]) -> object:
        """Call the function or method of this name, and await its result. Raises what the function raises."""
        function = self._functions[tool] if tool in self._functions else self._member(tool)
        if not callable(function):
            raise _NoSuchName(f"`{tool}` is not a function")
        return self._awaited(function(**arguments))

    def state(self, names: Sequence[str] | None) -> dict[str, object]:
        """Read the public attributes of these names, or all."""
        return {name: self._attribute(name) for name in (self._attribute_names() if names is None else names)}

    def _attribute(self, name: str) -> object:
        try:
            return _follow_path(self._object, name)
        except _NoSuchName as error:
            from difflib import get_close_matches

            meant = get_close_matches(name, self._attribute_names(), 1) if len(name) <= _LONGEST_NAME else []
            raise _NoSuchName(f"{error}; did you mean `{meant[0]}`?" if meant else str(error)) from None

    def _attribute_names(self) -> list[str]:
        if isinstance(self._object, Mapping):
            return [name for name, value in self._object.items() if _is_state(name, value)]
        return [name for name in dir(self._object) if _is_state(name, getattr(self._object, name, None))]

    def _make_object(self, environment: str, setup: Mapping[str, Json]) -> object:
        if ":" in environment:
            made = self._awaited(_import_target(environment)(**setup))
            if made is None:
                raise _NoSuchName("the factory returned None; return an object or a mapping of functions")
            return made
        contents = _ModuleContents(importlib.import_module(environment))
        for name, value in setup.items():
            if name not in contents or callable(contents[name]):
                raise _NoSuchName(f"`setup`: `{environment}` has no public attribute `{name}`")
            contents.put(name, value)
        return contents

    def _member(self, tool: str) -> object:
        """A method, or a key, which may be any name that does not begin with an underscore."""
        if isinstance(self._object, Mapping) and tool in self._object and not tool.startswith("_"):
            return self._object[tool]
        return _follow_path(self._object, tool)

    def _awaited(self, value: object) -> object:
        """The result of an awaitable. All calls share a loop: connections opened in one cannot be used in another."""
        if not isinstance(value, Awaitable):
            return value
        if self._runner is None:
            from asyncio import Runner

            self._runner = Runner()
        return self._runner.run(_wait_for(value))


class _ModuleContents(Mapping[str, object]):
    """The public functions that a module defines, and its public data, as they are at the time.

    Imported names are left out as far as possible: only data of built-in types, or of the module's own, counts.
    """

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getitem__(self, name: str) -> object:
        value: object = vars(self._module)[name]
        if not self._shows(name, value):
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return (name for name, value in list(vars(self._module).items()) if self._shows(name, value))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def put(self, name: str, value: object) -> None:
        """Set an attribute of the module."""
        setattr(self._module, name, value)

    def _shows(self, name: str, value: object) -> bool:
        if name.startswith("_") or isinstance(value, type):
            return False
        if isinstance(value, _LISTS) and any(map(callable, value)):  # such as a list of the tools
            return False
        own = self._module.__name__ in {getattr(value, "__module__", None), type(value).__module__}
        return own or isinstance(value, _DATA)


async def _wait_for(value: Awaitable[object]) -> object:
    return await value


def _import_function(target: str) -> object:
    """The function at `module:function`, or at `module:LIST.2` in a list."""
    start, _, last = target.rpartition(".")
    if last.isdecimal():
        listed: object = _import_target(start)[int(last)]
        return listed
    owner = _import_target(start) if ":" in start else None
    if isinstance(owner, type) and _is_method(owner, last):
        raise _NoSuchName(f"`{target}` is a method, and there is no object to call it on; name `environment: {start}`")
    return _import_target(target)


def _is_method(owner: type, name: str) -> bool:
    return isinstance(next((vars(base)[name] for base in owner.__mro__ if name in vars(base)), None), FunctionType)


def _import_target(target: str) -> Any:
    module, _, path = target.partition(":")
    value: object = importlib.import_module(module)
    return _follow_path(value, path)


def _follow_path(start: object, path: str) -> object:
    """The value at a dotted path of public names."""
    value = start
    for name in path.split("."):
        if not name.isidentifier() or name.startswith("_"):
            raise _NoSuchName(f"`{path}` is not a public name")
        try:
            value = value[name] if isinstance(value, Mapping) else getattr(value, name)
        except (AttributeError, KeyError):
            raise _NoSuchName(f"there is no `{path}`") from None
    return value


def _is_state(name: object, value: object) -> bool:
    hidden = not isinstance(name, str) or not name.isidentifier() or name.startswith("_")
    return not (hidden or callable(value) or isinstance(value, ModuleType))
