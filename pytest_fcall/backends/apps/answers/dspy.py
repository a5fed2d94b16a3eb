"""DSPy: predictions, with the trajectory of an agent or with calls as a field of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.message import Answer, AnswerMessage, call_list, call_of, result_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    check_ignored,
    fields_of,
    kind_of,
    plain,
    required_fields,
)
from pytest_fcall.core import RawCall

_STEP = re.compile(r"(thought|tool_name|tool_args|observation)_(\d+)\Z")
_LAST = "finish"
"""The library's own tool, which an agent calls when it knows enough."""
_REASONING = ("reasoning", "rationale")


def read_prediction(data: Fields, place: str = "") -> Answer:
    """The calls that a prediction tells, and what it predicts as text: a single field, or the JSON of several."""
    held: Fields = required_fields(data.get("_store"), place, "the fields of a prediction")
    check_ignored(data, ("_store", "_completions", "_lm_usage"), place)
    messages: list[AnswerMessage] = []
    calls: list[RawCall] = []
    texts: dict[str, Any] = {}
    for name, value in held.items():
        if (made := _calls(value)) is not None:
            calls += call_list(made, inside(place, name))
        elif name == "trajectory" or any(map(_STEP.match, map(str, fields_of(value) or ()))):
            messages += _steps(value, inside(place, name))
        elif name not in _REASONING:
            check_ignored({name: value}, (), place)
            texts[name] = plain(value)
    text = as_text(next(iter(texts.values()))) if len(texts) == 1 else as_text(texts) if texts else ""
    last = AnswerMessage("assistant", text, tuple(calls))
    return Answer([*messages, last], is_trail=bool(messages), is_new=True)


def _calls(value: object) -> Any:
    """The calls in a value of the class ToolCalls; None for any other value."""
    is_calls = type(value).__name__ == "ToolCalls"
    return (fields_of(value) or {}).get("tool_calls") if is_calls else None


def _steps(trajectory: object, place: str) -> list[AnswerMessage]:
    """The steps of an agent: a call each, and what it gave."""
    data = required_fields(trajectory, place, "a trajectory with tool_name_0, tool_args_0 and observation_0")
    steps: dict[int, dict[str, Any]] = {}
    for name, value in data.items():
        if (found := _STEP.match(name)) is None:
            raise not_understood(
                inside(place, name), kind_of(value), "tool_name_N, tool_args_N, observation_N, thought_N"
            )
        steps.setdefault(int(found[2]), {})[found[1]] = value
    if steps and sorted(steps) != [*range(len(steps))]:
        raise AnswerError(
            f"the app returned a trajectory that begins at step {min(steps)}: its first calls were cut off, because "
            "the model's context was full; expect what it asks of models with `wire:`"
        )
    return [message for number in sorted(steps) for message in _step(number, steps[number])]


def _step(number: int, step: Mapping[str, Any]) -> list[AnswerMessage]:
    said = as_text(step.get("thought"))
    if "tool_name" not in step and step.keys() - {"thought"}:
        raise AnswerError(f"the app returned a trajectory in which tool_name_{number} is missing")
    if step.get("tool_name") in (None, _LAST):
        return [AnswerMessage("assistant", said)]
    call = call_of(step["tool_name"], step.get("tool_args") or {}, f"call_{number}")
    return [AnswerMessage("assistant", said, (call,)), result_of(call.id, step.get("observation"))]
