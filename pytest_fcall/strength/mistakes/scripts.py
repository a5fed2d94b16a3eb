"""Wrong scripts: another tool, calls too few, too many, or in another order, and other texts of an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.expectation import CallPattern
from pytest_fcall.core.message_text import nearest
from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.strength.mistakes.values import brief
from pytest_fcall.strength.scripts import Script, call_places, with_call, with_step, with_turn

_MOST_NEIGHBOURS: Final = 3
_MOST_COMPARED: Final = 2000
_MOST_FORBIDDEN: Final = 3
_MOST_TOOLS: Final = 6
_NUMBER: Final = re.compile(r"\d{1,12}")
_REFUSAL: Final = "Sorry, I cannot help with that."
_EMPTY: Final = "Here is what I found."


class WrongScript(NamedTuple):
    """A wrong script: the kind of mistake, the tool of the case that it concerns, and what is wrong."""

    mistake: str
    tool: str
    place: str
    detail: str
    script: Script


MakeCall = Callable[[str], "Call | None"]
"""Makes a call of a tool that its schema allows, if it can."""
MakeForbidden = Callable[[str, CallPattern], "Call | None"]


class Neighbours:
    """The other offered tools of a tool, the nearest in name first, and not more than a few."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = tools
        self._known: dict[str, list[str]] = {}

    def of(self, name: str) -> list[str]:
        """The names of the neighbours; found once, as among many tools that takes long."""
        if name not in self._known:
            others = [tool.name for tool in self.tools if tool.name != name]
            near = nearest(name, others[:_MOST_COMPARED])
            ordered = ([near] if near else []) + [other for other in others if other != near]
            self._known[name] = ordered[:_MOST_NEIGHBOURS]
        return self._known[name]


def wrong_tools(script: Script, near: Neighbours, make: MakeCall) -> Iterator[WrongScript]:
    """Each call made with another tool: an offered one, or one that there is not."""
    for place, call in call_places(script):
        for other in near.of(call.name):
            made = make(other)
            if made is None:
                continue
            known = {name: value for name, value in call.arguments.items() if name in _parameters(other, near.tools)}
            wrong = with_call(script, place, Call(other, {**made.arguments, **known}))
            yield WrongScript("neighbour tool", call.name, "the tool", f"{other} is called", wrong)
        invented = f"{call.name}_now"
        if near.tools and all(tool.name != invented for tool in near.tools):
            wrong = with_call(script, place, Call(invented, call.arguments))
            yield WrongScript("tool invented", call.name, "the tool", f"{invented} is called", wrong)


def _parameters(name: str, tools: Sequence[Tool]) -> Sequence[str]:
    tool = next((tool for tool in tools if tool.name == name), None)
    properties = tool.parameters.get("properties") if tool else None
    return [*properties] if isinstance(properties, dict) else []


def wrong_counts(script: Script, near: Neighbours, make: MakeCall) -> Iterator[WrongScript]:
    """A call less, a call twice, a call more."""
    places = list(call_places(script))
    for place, call in places:
        step = script[place.turn].steps[place.step]
        if len(script[place.turn].calls) > 1:
            without = with_step(script, place, (*step[: place.number], *step[place.number + 1 :]))
            yield WrongScript("call dropped", call.name, "the calls", f"without {call.name}", without)
        doubled = with_step(script, place, (*step[: place.number + 1], *step[place.number :]))
        yield WrongScript("call doubled", call.name, "the calls", f"{call.name} twice", doubled)
    for turn, scripted in enumerate(script):
        if not scripted.steps:
            continue
        last = [place for place, _ in places if place.turn == turn][-1]
        step = scripted.steps[-1]
        for other in dict.fromkeys([*near.of(step[-1].name), step[-1].name]):
            made = make(other)
            if made is not None and made not in step:
                added = with_step(script, last, (*step, made))
                yield WrongScript("call added", step[-1].name, "the calls", f"{other}, too", added)


def wrong_orders(script: Script) -> Iterator[WrongScript]:
    """Calls of one reply in another order; replies in another order; calls at once that were one after the other."""
    for turn, scripted in enumerate(script):
        for number, step in enumerate(scripted.steps):
            for index in range(len(step) - 1):
                if step[index] != step[index + 1]:
                    swapped = (*step[:index], step[index + 1], step[index], *step[index + 2 :])
                    steps = (*scripted.steps[:number], swapped, *scripted.steps[number + 1 :])
                    yield _reordered(script, turn, steps, step[index].name, f"{step[index + 1].name} first")
        for number in range(len(scripted.steps) - 1):
            before, after = scripted.steps[number], scripted.steps[number + 1]
            outside = scripted.steps[:number], scripted.steps[number + 2 :]
            name = after[0].name
            yield _reordered(script, turn, (*outside[0], after, before, *outside[1]), name, f"{name} first")
            yield _reordered(script, turn, (*outside[0], (*before, *after), *outside[1]), name, "all at once")


def _reordered(script: Script, turn: int, steps: tuple[tuple[Call, ...], ...], tool: str, detail: str) -> WrongScript:
    wrong = with_turn(script, turn, replace(script[turn], steps=steps))
    return WrongScript("calls swapped", tool, "the calls", detail, wrong)


def forbidden_calls(
    script: Script, never: Sequence[tuple[int, CallPattern]], tools: Sequence[Tool], make: MakeForbidden
) -> Iterator[WrongScript]:
    """A forbidden call beside the right ones; each pattern comes with its turn."""
    for turn, pattern in never:
        matching = [tool.name for tool in tools if glob_matches(pattern.tool, tool.name)]
        for name in matching[:_MOST_FORBIDDEN]:
            made = make(name, pattern)
            if made is None:
                continue
            scripted = script[turn]
            steps = (*scripted.steps[:-1], (*(scripted.steps[-1] if scripted.steps else ()), made))
            wrong = with_turn(script, turn, replace(scripted, steps=steps))
            yield WrongScript("forbidden call", name, "the calls", f"{name}, too", wrong)


def wrong_replies(script: Script, tools: Sequence[Tool], make: MakeCall) -> Iterator[WrongScript]:
    """A text for calls, calls for a text, and a conversation that ends too early."""
    for turn, scripted in enumerate(script):
        if not scripted.steps:
            for tool in tools[:_MOST_TOOLS]:
                made = make(tool.name)
                if made is not None:
                    wrong = with_turn(script, turn, replace(scripted, steps=((made,),)))
                    detail = f"{tool.name} is called"
                    yield WrongScript("call instead of answer", tool.name, "the calls", detail, wrong)
            continue
        name = scripted.steps[0][0].name
        wrong = with_turn(script, turn, replace(scripted, steps=()))
        yield WrongScript("answer instead of call", name, "the calls", "a text and no call", wrong)
        for number in range(1, len(scripted.steps)):
            wrong = with_turn(script, turn, replace(scripted, steps=scripted.steps[:number]))
            detail = f"without {scripted.steps[number][0].name} and what follows"
            yield WrongScript("conversation cut", scripted.steps[number][0].name, "the calls", detail, wrong)


def wrong_answers(script: Script, judged_turns: Sequence[int]) -> Iterator[WrongScript]:
    """Other texts in the turns of which the answer is judged."""
    for turn in judged_turns:
        scripted = script[turn]
        tool = scripted.calls[0].name if scripted.calls else ""
        for other in dict.fromkeys(_others(scripted.text)):
            if other != scripted.text:
                wrong = with_turn(script, turn, replace(scripted, text=other))
                detail = f"{brief(scripted.text)} → {brief(other)}"
                yield WrongScript("answer changed", tool, "answer", detail, wrong)


def _others(text: str) -> Iterator[str]:
    yield _REFUSAL
    yield _EMPTY
    if number := _NUMBER.search(text):
        yield f"{text[: number.start()]}{int(number[0]) + 1}{text[number.end() :]}"
