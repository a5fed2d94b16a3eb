"""What runs in the process in which functions are called: a line of JSON in, a line of JSON out."""

from __future__ import annotations

import importlib
import json
import os
import sys
from contextlib import suppress
from io import BufferedReader, BufferedWriter
from pathlib import Path
from traceback import extract_tb
from typing import Any

from pytest_fcall.conversation.execution.plain import NotPlain, json_text
from pytest_fcall.conversation.execution.walls import raise_walls
from pytest_fcall.conversation.execution.walls.alarm import ended_after
from pytest_fcall.conversation.execution.walls.orders import Walls
from pytest_fcall.conversation.execution.world import NoSuchThing, World

_LONGEST_MESSAGE = 2_000
_NOT_THEIRS = ("<frozen importlib", str(Path(__file__).parent), str(Path(importlib.__file__).parent))


def main() -> None:
    """Do what the parent orders until it closes the channel."""
    told, answers = _channel()
    order = json.loads(told.readline())
    most, seconds = order["result"], order["seconds"]
    root = order["root"]
    walls = raise_walls(Walls.from_data(order["walls"]))
    try:
        with ended_after(order["start_seconds"]):
            world = World(order["environment"], order["setup"], order["functions"])
    except BaseException as error:
        place = _place(error, root)
        _say(answers, 0, f'"error": {json.dumps(_in_words(error) + (f" ({place})" if place else ""))}')
        return
    _say(answers, 0, f'"value": {json.dumps(walls)}')
    for number, line in enumerate(told, 1):
        with ended_after(seconds):
            said = _answer(world, json.loads(line), most, root)
        _say(answers, number, said)


def _answer(world: World, asked: dict[str, Any], most: int, root: str) -> str:
    place = None
    try:
        found = world.state(asked["state"]) if "state" in asked else world.call(asked["call"], asked["arguments"])
        return f'"value": {json_text(found, most)}'
    except NoSuchThing as error:
        said = str(error)
    except NotPlain as error:
        said = f"the result cannot be told: {error}"
    except BaseException as error:  # whatever a called function raises, SystemExit too, is its result
        said, place = _in_words(error), _place(error, root)
    return f'"error": {json.dumps(said)}, "place": {json.dumps(place)}'


def _in_words(error: BaseException) -> str:
    """The type and the text of an exception; the type alone where the text cannot be had."""
    name = type(error).__name__
    try:
        text = str.__str__(str(error))[:_LONGEST_MESSAGE]
    except BaseException:  # `__str__` is the called function's own
        return name
    return f"{name}: {text}" if text else name


def _place(error: BaseException, root: str) -> str | None:
    """Where in the project's own code an exception rose, in words."""
    frames = [frame for frame in extract_tb(error.__traceback__) if not frame.filename.startswith(_NOT_THEIRS)]
    return f"{frames[-1].filename.removeprefix(root + os.sep)}, line {frames[-1].lineno}" if frames else None


def _say(answers: BufferedWriter, number: int, said: str) -> None:
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
