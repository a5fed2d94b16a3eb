"""Answers to conversations: the right ones, with something done to them."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from tests.conformance.official.client import Style

Made: TypeAlias = tuple[str, dict[str, Any]]
"""A call."""
Reply: TypeAlias = "list[Made] | str"
"""Calls that are made at once, or what is no call."""
Trajectory: TypeAlias = "list[list[Reply]]"

_VALUES: Sequence[Any] = (
    *(0, -1, 7, 2500, 0.5, -3.25, True, False, None, float("inf"), 10**25),
    *("", "a", "it's", 'say "so"', "a\nb", "sort (x)", "see cd(folder)", "Zürich", "..", "/", "temp", "*.txt", "12"),
    *([], ["a", "b"], [1, 2.0], {}, {"a": 1}, {"f": {"x": 1}}, {"a": [None]}),
)
_NAMES = ("no_such_tool", "GorillaFileSystem.ls", "kill", "mkdir", "logarithm", "display_log", "f-g", "")
_PROSE = ("Done.", "", "[]", "I cannot (do) that", "ls", "`ls()`", "[ls(), 1]", "{", "ls(a=True", "[ls(a=b.c)]")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A case, the right calls of its turns, and the order of the arguments of its functions."""

    entry: Mapping[str, Any]
    truth: Sequence[Sequence[str]]
    order: Mapping[str, Sequence[str]]

    def right(self) -> Trajectory:
        """The right calls, those of each turn at once."""
        return [[self._reply(turn)] for turn in self.truth]

    def _reply(self, turn: Sequence[str]) -> Reply:
        return [self._call(source) for source in turn]

    def _call(self, source: str) -> Made:
        node = ast.parse(source.strip(), mode="eval").body
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        placed = zip(self.order[node.func.id], map(ast.literal_eval, node.args), strict=False)
        return node.func.id, {
            **dict(placed),
            **{each.arg or "": ast.literal_eval(each.value) for each in node.keywords},
        }


def changed(conversation: Conversation, random: Random) -> Trajectory:
    """The right answer in single steps or not, after up to four changes."""
    trajectory = conversation.right()
    if random.random() < 0.5:
        trajectory = [[[call] for reply in turn if isinstance(reply, list) for call in reply] for turn in trajectory]
    for _ in range(random.choice((0, 0, 1, 1, 1, 2, 4))):
        random.choice(_CHANGES)(trajectory, random)
    return trajectory


def without_a_turn(conversation: Conversation, random: Random) -> Trajectory:
    """The right answer, but nothing is called in one of the turns in which something must be."""
    trajectory = conversation.right()
    chosen = random.choice([number for number, turn in enumerate(conversation.truth) if turn])
    return [turn if number != chosen else ["Done."] for number, turn in enumerate(trajectory)]


def as_said(trajectory: Trajectory, style: Style) -> list[list[Any]]:
    """The trajectory as a file of results has it."""
    return [[_SAID[style](reply) for reply in turn] for turn in trajectory]


def _fc(reply: Reply) -> Any:
    return reply if isinstance(reply, str) else [{name: json.dumps(arguments)} for name, arguments in reply]


def _source(reply: Reply) -> list[str]:
    calls = [] if isinstance(reply, str) else reply
    return [f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})" for name, given in calls]


def _prompt(reply: Reply) -> Any:
    return reply if isinstance(reply, str) else f"[{', '.join(_source(reply))}]"


_SAID: Mapping[Style, Callable[[Reply], Any]] = {"fc": _fc, "prompt": _prompt, "calls": _source}


def _some_reply(trajectory: Trajectory, random: Random) -> list[Made]:
    replies = [reply for turn in trajectory for reply in turn if isinstance(reply, list) and reply]
    return random.choice(replies) if replies else []


def _drop(trajectory: Trajectory, random: Random) -> None:
    if reply := _some_reply(trajectory, random):
        reply.pop(random.randrange(len(reply)))


def _repeat(trajectory: Trajectory, random: Random) -> None:
    if reply := _some_reply(trajectory, random):
        reply.insert(random.randrange(len(reply) + 1), random.choice(reply))


def _shuffle(trajectory: Trajectory, random: Random) -> None:
    random.shuffle(_some_reply(trajectory, random))


def _move(trajectory: Trajectory, random: Random) -> None:
    if (reply := _some_reply(trajectory, random)) and trajectory:
        random.choice(trajectory).append([reply.pop()])


def _change_argument(trajectory: Trajectory, random: Random) -> None:
    if reply := _some_reply(trajectory, random):
        place = random.randrange(len(reply))
        name, given = reply[place]
        key = random.choice([*given, "surplus"])
        reply[place] = name, {**given, key: random.choice(_VALUES)}


def _drop_argument(trajectory: Trajectory, random: Random) -> None:
    if reply := _some_reply(trajectory, random):
        place = random.randrange(len(reply))
        name, given = reply[place]
        left_out = random.choice([*given, ""])
        reply[place] = name, {key: value for key, value in given.items() if key != left_out}


def _rename(trajectory: Trajectory, random: Random) -> None:
    if reply := _some_reply(trajectory, random):
        place = random.randrange(len(reply))
        reply[place] = random.choice(_NAMES), reply[place][1]


def _talk(trajectory: Trajectory, random: Random) -> None:
    turn = random.choice(trajectory)
    turn.insert(random.randrange(len(turn) + 1), random.choice(_PROSE))


def _empty(trajectory: Trajectory, random: Random) -> None:
    random.choice(trajectory).clear()


def _end_early(trajectory: Trajectory, random: Random) -> None:
    if len(trajectory) > 1:
        trajectory.pop()


_CHANGES: Sequence[Callable[[Trajectory, Random], None]] = (
    *(_drop, _repeat, _shuffle, _move, _change_argument, _change_argument, _change_argument),
    *(_drop_argument, _rename, _talk, _empty, _end_early),
)
