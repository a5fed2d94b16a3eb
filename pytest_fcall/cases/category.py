"""In which row of the summary a case counts, and whether one request can answer it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pytest_fcall.core import Expectation, Tool, Turn, World


def mode_of(turns: Sequence[Turn], world: World | None) -> Literal["request", "conversation"]:
    """A conversation needs more than one request: turns, stages, canned results, something behind the tools.

    So does an answer that comes after calls, and calls that may come one after the other.
    """
    longer = len(turns) > 1 or world is not None or any(turn.state or turn.result is not None for turn in turns)
    if longer or any(turn.expect and _goes_on(turn.expect, answers=turn.answer is not None) for turn in turns):
        return "conversation"
    return "request"


def category_of(turns: Sequence[Turn], tools: Sequence[Tool], mode: str) -> str:
    """BFCL's word for a case: one call and one tool offered is `simple`, several calls are `parallel` …"""
    if mode == "conversation":
        return "conversation"
    expect = turns[0].expect if turns else None
    while expect is not None and expect.kind == "any_of":
        expect = next((one for one in expect.alternatives if one.kind != "no_call"), None)
    if expect is None or expect.kind == "no_call":
        return "irrelevance"
    if expect.kind == "any_call":
        return "relevance"
    calls = [call for stage in expect.stages for call in stage]
    if len({call.tool for call in calls}) > 1:
        return "parallel_multiple"
    if len(calls) > 1 or any(call.times[1] != 1 for call in calls):
        return "parallel"
    return "multiple" if len(tools) > 1 else "simple"


def _goes_on(expect: Expectation, *, answers: bool) -> bool:
    """Whether the model is to have results of its calls, or may want them."""
    if any(_goes_on(one, answers=answers) for one in expect.alternatives):
        return True
    calls = [call for stage in expect.stages for call in stage]
    if len(expect.stages) > 1 or any(call.canned or call.result is not None for call in calls):
        return True
    if expect.parallel == "free" and (len(calls) > 1 or any(call.times[1] != 1 for call in calls)):
        return True
    return answers and (bool(calls) or bool(expect.allow) or expect.extra == "allow" or expect.kind == "any_call")
