"""The program of the process in which functions are called: reads lines of JSON, and answers each with a line of JSON.

It imports little, since every conversation with an environment waits for it.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, BufferedWriter
from typing import Any, Final

from pytest_fcall.conversation.execution.loaded_environment import LoadedEnvironment, NoSuchName
from pytest_fcall.conversation.execution.plain_json import NotPlain, json_text
from pytest_fcall.conversation.execution.sandbox import SandboxRules, WallsMissing, enter_sandbox

_GRACE_SECONDS: Final = 2.0
"""Seconds that the parent has to end the process itself, and to say why."""
_LONGEST_MESSAGE: Final = 2_000
_OUR_FRAMES: Final = ("<frozen importlib", os.path.dirname(__file__), os.path.dirname(importlib.__file__))  # noqa: PTH120  # pathlib costs a millisecond


def main() -> None:
    """Make the environment, and answer calls until the parent closes the channel."""
    messages, answers = _channel()
    spec = json.loads(messages.readline())
    limit, seconds, root = spec["result"], spec["seconds"], spec["root"]
    try:
        held = enter_sandbox(SandboxRules.from_data(spec["sandbox"]), spec["parent"])
    except (WallsMissing, OSError) as missing:
        remedy = "; `fc_walls = weaker` calls them all the same" if isinstance(missing, WallsMissing) else ""
        text = f"this machine cannot hold called functions: {missing}{remedy}"
        _write_answer(answers, 0, f'"error": {json.dumps(text)}')
        return
    try:
        with kernel_time_limit(spec["start_seconds"]):
            environment = LoadedEnvironment(spec["environment"], spec["setup"], spec["functions"])
    except BaseException as error:  # code of the environment may raise anything, SystemExit too
        place = _error_place(error, root)
        _write_answer(answers, 0, f'"error": {json.dumps(_error_text(error) + (f" ({place})" if place else ""))}')
        return
    _write_answer(answers, 0, f'"value": {json.dumps(held)}')
    for number, line in enumerate(messages, 1):
        with kernel_time_limit(seconds):
            answer = _answer(environment, json.loads(line), limit, root)
        _write_answer(answers, number, answer)


@contextmanager
def kernel_time_limit(seconds: float) -> Iterator[None]:
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


def _answer(environment: LoadedEnvironment, message: dict[str, Any], limit: int, root: str) -> str:
    place = None
    try:
        if "state" in message:
            value: object = environment.state(message["state"])
        else:
            value = environment.call(message["call"], message["arguments"])
        return f'"value": {json_text(value, limit)}'
    except NoSuchName as error:
        text = str(error)
    except NotPlain as error:
        text = f"the result cannot be returned: {error}"
    except BaseException as error:  # a called function may raise anything, SystemExit too
        text, place = _error_text(error), _error_place(error, root)
    return f'"error": {json.dumps(text)}, "place": {json.dumps(place)}'


def _error_text(error: BaseException) -> str:
    """The type and the text of an exception; the type alone where its `__str__` fails."""
    if isinstance(error, NoSuchName):
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
