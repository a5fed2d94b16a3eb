"""The program of the process in which functions are called: reads a line of JSON, writes a line of JSON."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, BufferedWriter
from pathlib import Path
from traceback import extract_tb
from typing import Any

from pytest_fcall.conversation.execution.loaded_environment import LoadedEnvironment, NoSuchName
from pytest_fcall.conversation.execution.plain_json import NotPlain, json_text
from pytest_fcall.conversation.execution.walls import Walls, raise_walls

_GRACE = 2.0
"""Seconds that the parent is left to end the process, and to say why."""


@contextmanager
def killed_after(seconds: float) -> Iterator[None]:
    """Let the kernel end this process some time after `seconds`, should the parent be gone by then.

    Windows has no such thing.
    """
    _set_alarm(seconds + _GRACE)
    yield
    _set_alarm(0)


def _set_alarm(seconds: float) -> None:
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


_LONGEST_MESSAGE = 2_000
_OUR_FRAMES = ("<frozen importlib", str(Path(__file__).parent), str(Path(importlib.__file__).parent))


def main() -> None:
    """Do what the parent orders until it closes the channel."""
    told, answers = _channel()
    order = json.loads(told.readline())
    most, seconds = order["result"], order["seconds"]
    root = order["root"]
    walls = raise_walls(Walls.from_data(order["walls"]))
    try:
        with killed_after(order["start_seconds"]):
            world = LoadedEnvironment(order["environment"], order["setup"], order["functions"])
    except BaseException as error:
        place = _error_place(error, root)
        _write_answer(answers, 0, f'"error": {json.dumps(_in_words(error) + (f" ({place})" if place else ""))}')
        return
    _write_answer(answers, 0, f'"value": {json.dumps(walls)}')
    for number, line in enumerate(told, 1):
        with killed_after(seconds):
            said = _answer(world, json.loads(line), most, root)
        _write_answer(answers, number, said)


def _answer(world: LoadedEnvironment, asked: dict[str, Any], most: int, root: str) -> str:
    place = None
    try:
        found = world.state(asked["state"]) if "state" in asked else world.call(asked["call"], asked["arguments"])
        return f'"value": {json_text(found, most)}'
    except NoSuchName as error:
        said = str(error)
    except NotPlain as error:
        said = f"the result cannot be told: {error}"
    except BaseException as error:  # whatever a called function raises, SystemExit too, is its result
        said, place = _in_words(error), _error_place(error, root)
    return f'"error": {json.dumps(said)}, "place": {json.dumps(place)}'


def _in_words(error: BaseException) -> str:
    """The type and the text of an exception; the type alone where the text cannot be had."""
    name = type(error).__name__
    try:
        text = str.__str__(str(error))[:_LONGEST_MESSAGE]
    except BaseException:  # `__str__` is the called function's own
        return name
    return f"{name}: {text}" if text else name


def _error_place(error: BaseException, root: str) -> str | None:
    """Where in the project's own code an exception rose, in words."""
    frames = [frame for frame in extract_tb(error.__traceback__) if not frame.filename.startswith(_OUR_FRAMES)]
    return f"{frames[-1].filename.removeprefix(root + os.sep)}, line {frames[-1].lineno}" if frames else None


def _write_answer(answers: BufferedWriter, number: int, said: str) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the called function may have closed it, or put anything in its place
            stream.flush()
    answers.write(f'{{"number": {number}, {said}}}\n'.encode())
    answers.flush()


def _channel() -> tuple[BufferedReader, BufferedWriter]:
    """Keep the pipes to the parent apart: what is printed goes to standard error, and nothing is there to be read."""
    told, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return told, answers
