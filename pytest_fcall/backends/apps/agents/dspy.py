"""DSPy's modules: called with the user's text, and earlier turns as their `dspy.History`; predictions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_fcall.backends.apps.agents.messages import HistoryMessage, MessageHistory, read_history
from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer, call_list, call_of, result_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    check_ignored,
    fields_of,
    kind_of,
    plain,
    required_fields,
)
from pytest_fcall.core.reply import RawCall
from pytest_fcall.core.request import AppRequest

_FINISH = "finish"
"""The tool by which `dspy.ReAct` ends; it is none of the team's."""


def call(agent: Any, request: AppRequest) -> object:
    """Call the module; modules keep nothing between calls."""
    history = read_history(request, "DSPy")
    given = _inputs(agent, history)
    if any(inspect.iscoroutinefunction(getattr(tool, "func", tool)) for tool in _tools_of(agent)):
        return agent.acall(**given)
    return agent(**given)


def tools(agent: Any) -> list[object]:
    """The tools of the module and of the modules in it."""
    from dspy import Tool

    offered = [tool if isinstance(tool, Tool) else Tool(tool) for tool in _tools_of(agent)]
    named = {tool.name: tool.format_as_litellm_function_call() for tool in offered if tool.name != _FINISH}
    return [*named.values()]


def _tools_of(agent: Any) -> Iterator[Any]:
    for _, module in agent.named_sub_modules():
        held = getattr(module, "tools", None)
        yield from held.values() if isinstance(held, Mapping) else held if isinstance(held, list | tuple) else ()


def _inputs(agent: Any, history: MessageHistory) -> dict[str, Any]:
    """The arguments for the module. Raises CaseRefused where it takes something else than a text and a history."""
    names, past = _parameters(agent), None
    signature = None if names else _signature(agent)
    if signature is not None:
        fields = signature.input_fields
        past = next((name for name, each in fields.items() if _is_history(each.annotation)), None)
        names = [name for name in fields if name != past]
    if len(names) != 1:
        known = ", ".join(map(repr, names)) or "nothing that has a name"
        raise history.unfit(f"its inputs are not one text but {known}")
    if past is None or signature is None:
        return {names[0]: history.text_alone()}
    if history.system:
        raise history.refused("a system message")
    question = history.without_images(history.question())
    return {names[0]: question.text, past: _past(history, names[0], [*signature.output_fields])}


def _signature(agent: Any) -> Any:
    """The signature of one of DSPy's own modules, whose inputs have no names in the code."""
    for module in (agent, getattr(agent, "predict", None)):
        if (signature := getattr(module, "signature", None)) is not None:
            return signature
    return None


def _parameters(agent: Any) -> list[str]:
    """The inputs of a module that a team has written."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    _, *parameters = inspect.signature(type(agent).forward).parameters.values()
    return [each.name for each in parameters if each.kind in kinds and each.default is inspect.Parameter.empty]


def _is_history(annotation: object) -> bool:
    return isinstance(annotation, type) and any(kind.__name__ == "History" for kind in annotation.__mro__)


def _past(history: MessageHistory, asked: str, answered: Sequence[str]) -> Any:
    """Earlier turns as `dspy.History`: each has what was asked, and what was answered."""
    from dspy import History

    turns: list[dict[str, str]] = []
    for message in history.earlier:
        turn = _turn(history, message, asked, answered)
        if message.role == "assistant" and turns and turns[-1].keys() == {asked}:
            turns[-1] |= turn
        else:
            turns.append(turn)
    return History(messages=turns)


def _turn(history: MessageHistory, message: HistoryMessage, asked: str, answered: Sequence[str]) -> dict[str, str]:
    history.without_images(message)
    if message.role == "user":
        return {asked: message.text}
    if message.role == "assistant" and not message.calls and len(answered) == 1:
        return {answered[0]: message.text}
    raise history.refused("an earlier turn that is not a question with one answer")


_STEP = re.compile(r"(thought|tool_name|tool_args|observation)_(\d+)\Z")
_LAST = "finish"
"""The library's own tool, which an agent calls when it knows enough."""
_REASONING = ("reasoning", "rationale")


def read_prediction(data: Fields, place: str = "") -> AppAnswer:
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
    return AppAnswer([*messages, last], is_trail=bool(messages), is_new=True)


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
