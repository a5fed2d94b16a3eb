"""DSPy's modules: called with the user's text as their input, and earlier turns as their `dspy.History`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_fcall.backends.apps.agents.messages import History, HistoryMessage, read_history
from pytest_fcall.core.app import AppRequest

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


def _inputs(agent: Any, history: History) -> dict[str, Any]:
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


def _past(history: History, asked: str, answered: Sequence[str]) -> Any:
    """Earlier turns as `dspy.History`: each has what was asked, and what was answered."""
    from dspy import History as Past

    turns: list[dict[str, str]] = []
    for message in history.earlier:
        turn = _turn(history, message, asked, answered)
        if message.role == "assistant" and turns and turns[-1].keys() == {asked}:
            turns[-1] |= turn
        else:
            turns.append(turn)
    return Past(messages=turns)


def _turn(history: History, message: HistoryMessage, asked: str, answered: Sequence[str]) -> dict[str, str]:
    history.without_images(message)
    if message.role == "user":
        return {asked: message.text}
    if message.role == "assistant" and not message.calls and len(answered) == 1:
        return {answered[0]: message.text}
    raise history.refused("an earlier turn that is not a question with one answer")
