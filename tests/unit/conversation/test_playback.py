"""Any conversation that a case can ask for: played back it passes, and with anything changed it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import (
    Case,
    Expectation,
    ExpectedCall,
    Json,
    Location,
    Operator,
    Pattern,
    StubResult,
    Tool,
    Turn,
)
from tests.unit.conversation.conversations import Model, Say, held

Made: TypeAlias = tuple[str, Mapping[str, Json]]
Reply: TypeAlias = list[Made]
Played: TypeAlias = list[list[Reply]]
"""Turn by turn, reply by reply."""

TOOLS = tuple(
    Tool(name, parameters={"type": "object", "properties": {"n": {"type": "integer"}, "of": {}}, "required": ["n"]})
    for name in ("find", "book", "drop")
)


@dataclass(frozen=True)
class Script:
    """A case, and what a model says that does just what it asks for."""

    case: Case
    played: Played


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    numbers = count()
    earlier: list[tuple[str, Json]] = []
    turns: list[Turn] = []
    played: Played = []
    for index in range(draw(st.integers(1, 3))):
        stages: list[tuple[ExpectedCall, ...]] = []
        replies: list[Reply] = []
        for _ in range(draw(st.integers(1, 3))):
            stage: list[ExpectedCall] = []
            reply: Reply = []
            named: list[tuple[str, Json]] = []
            for _ in range(draw(st.integers(1, 3))):
                number, tool = next(numbers), draw(st.sampled_from(TOOLS)).name
                result = draw(st.dictionaries(st.sampled_from("ab"), st.integers() | st.text(max_size=3), max_size=2))
                arguments: dict[str, Pattern] = {"n": number}
                made: dict[str, Json] = {"n": number}
                if draw(st.booleans()) and earlier:
                    name, found = draw(st.sampled_from(earlier))
                    arguments["of"], made["of"] = Operator("from", f"{name}.result"), found
                name = f"call{number}"
                named.append((name, result))
                stage.append(ExpectedCall(tool, arguments, stub=StubResult((result,)), name=name))
                reply.append((tool, made))
            stages.append(tuple(stage))
            replies.append(draw(st.permutations(reply)))
            earlier += named
        said: Mapping[str, Json] = {"role": "user", "content": f"turn {index}"}
        turns.append(Turn((said,), Expectation(stages=tuple(stages)), answer=f"answer {index}"))
        played.append(replies)
    return Script(Case("any", Location("", 1), tuple(turns), TOOLS, mode="conversation"), played)


def outcome(case: Case, played: Played) -> bool:
    says: list[Say] = []
    for index, replies in enumerate(played):
        says += [*filter(None, replies), f"answer {index}"]
    return held(case, Model(says))[1].valid


@given(scripts())
def test_a_model_that_plays_back_what_is_expected_passes(script: Script) -> None:
    assert outcome(script.case, script.played)


NEVER_ASKED: Made = ("find", {"n": -1})
OTHER_TOOL = {"find": "book", "book": "drop", "drop": "find"}


def with_arguments(reply: Reply, index: int, **more: Json) -> None:
    name, arguments = reply[index]
    reply[index] = name, {**arguments, **more}


def later(turn: list[Reply], reply: Reply, index: int) -> None:
    """A call comes one reply too late; one that is alone in its reply changes places with the next."""
    place = turn.index(reply)
    if len(reply) > 1:
        turn.insert(place + 1, [reply.pop(index)])
    elif place + 1 < len(turn):
        turn[place], turn[place + 1] = turn[place + 1], turn[place]
    else:
        reply.append(NEVER_ASKED)


def sooner(turn: list[Reply], reply: Reply) -> None:
    """The calls of the next reply come at once with those of this one."""
    place = turn.index(reply)
    reply += turn.pop(place + 1) if place + 1 < len(turn) else [NEVER_ASKED]


MUTATIONS: Mapping[str, Callable[[list[Reply], Reply, int], object]] = {
    "another argument": lambda _, reply, index: with_arguments(reply, index, n=-1),
    "another type": lambda _, reply, index: with_arguments(reply, index, n=str(reply[index][1]["n"])),
    "one argument more": lambda _, reply, index: with_arguments(reply, index, more=1),
    "another tool": lambda _, reply, index: reply.insert(index, (OTHER_TOOL[(made := reply.pop(index))[0]], made[1])),
    "not called": lambda _, reply, index: reply.pop(index),
    "one call more": lambda _, reply, index: reply.insert(index, NEVER_ASKED),
    "called twice": lambda _, reply, index: reply.append(reply[index]),
    "called later": later,
    "called sooner": lambda turn, reply, _: sooner(turn, reply),
}


def changed(data: st.DataObject, played: Played) -> Played:
    """The same with one thing otherwise."""
    copy = [[[*reply] for reply in turn] for turn in played]
    turn = data.draw(st.sampled_from(copy))
    reply = data.draw(st.sampled_from(turn))
    index = data.draw(st.integers(0, len(reply) - 1))
    MUTATIONS[data.draw(st.sampled_from([*MUTATIONS]))](turn, reply, index)
    return copy


@given(scripts(), st.data())
def test_a_model_that_does_one_thing_otherwise_fails(script: Script, data: st.DataObject) -> None:
    assert not outcome(script.case, changed(data, script.played))


@given(scripts(), st.data())
def test_a_model_that_says_something_else_at_the_end_of_a_turn_fails(script: Script, data: st.DataObject) -> None:
    wrong = data.draw(st.integers(0, len(script.played) - 1))
    says: list[Say] = []
    for index, replies in enumerate(script.played):
        says += [*replies, f"answer {index}" if index != wrong else "something else"]
    assert not held(script.case, Model(says))[1].valid
