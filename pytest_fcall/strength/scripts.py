"""A script: what a model says in answer to a case, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from pytest_fcall.core import Call

Step: TypeAlias = tuple[Call, ...]
"""The calls of one reply."""


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """The replies of one turn: those with calls, in order, and the text of the last one."""

    steps: tuple[Step, ...] = ()
    text: str = ""

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls of the turn."""
        return tuple(call for step in self.steps for call in step)


Script: TypeAlias = tuple[ScriptedTurn, ...]


class CallPlace(NamedTuple):
    """The place of a call in a script."""

    turn: int
    step: int
    number: int


def call_places(script: Script) -> Iterator[tuple[CallPlace, Call]]:
    """Every call of a script with its place."""
    for turn, scripted in enumerate(script):
        for number, step in enumerate(scripted.steps):
            for index, call in enumerate(step):
                yield CallPlace(turn, number, index), call


def with_turn(script: Script, turn: int, scripted: ScriptedTurn) -> Script:
    """The script with another turn."""
    return (*script[:turn], scripted, *script[turn + 1 :])


def with_step(script: Script, place: CallPlace, step: Step) -> Script:
    """The script with other calls in the reply at `place`; a reply that is left without calls is gone."""
    scripted = script[place.turn]
    steps = scripted.steps[: place.step] + ((step,) if step else ()) + scripted.steps[place.step + 1 :]
    return with_turn(script, place.turn, replace(scripted, steps=steps))


def with_call(script: Script, place: CallPlace, call: Call) -> Script:
    """The script with another call at `place`."""
    step = script[place.turn].steps[place.step]
    return with_step(script, place, (*step[: place.number], call, *step[place.number + 1 :]))
