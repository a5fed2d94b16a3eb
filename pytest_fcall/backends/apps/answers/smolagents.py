"""smolagents: full results of runs, and the steps of an agent's memory, as objects or as JSON."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from pytest_fcall.backends.apps.answers.errors import inside, not_understood
from pytest_fcall.backends.apps.answers.message import Answer, AnswerMessage, call_list, result_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    check_ignored,
    fields_of,
    kind_of,
    numbered,
    required_fields,
)
from pytest_fcall.backends.openai.answer_fields import count
from pytest_fcall.core import RawCall, Usage

_FINAL = "final_answer"
_CODE = "python_interpreter"
_STEP = frozenset(
    {"tool_calls", "model_output_message", "model_input_messages", "model_output", "code_action", "observations"}
)
_UNDERSTOOD = "the steps of a run"


def read_result(data: Fields, place: str = "") -> Answer:
    """The actions of an agent in a run."""
    check_ignored(data, ("steps", "output"), place)
    messages = [
        message
        for step, step_place in numbered(data.get("steps"), inside(place, "steps"))
        for message in read_step(required_fields(step, step_place, _UNDERSTOOD), step_place).messages
    ]
    if not any(message.role == "assistant" for message in messages):
        messages.append(AnswerMessage("assistant"))
    return Answer(messages, is_trail=True, is_new=True, text=as_text(data.get("output")))


def read_step(data: Fields, place: str = "") -> Answer:
    """The meaning of a step: the task, a plan, or calls and their results together."""
    check_ignored(data, _STEP, place)
    if "task" in data:
        return Answer([AnswerMessage("user", as_text(data["task"]))])
    if "system_prompt" in data:
        return Answer([AnswerMessage("system", as_text(data["system_prompt"]))])
    if "plan" in data:
        return Answer([AnswerMessage("assistant", as_text(data["plan"]))])
    if "step_number" not in data and data.keys() != {"output"}:
        raise not_understood(place, kind_of(data), _UNDERSTOOD)
    if "step_number" not in data:
        return Answer([AnswerMessage("assistant", as_text(data.get("output")))])
    made = call_list(data.get("tool_calls"), inside(place, "tool_calls")) or _asked(data, place)
    calls = tuple(_with_code(call) for call in made if not (_is_final(data, call) or _only_answers(call)))
    final = next((_answer(call) for call in made if _is_final(data, call)), None)
    said = as_text(data["action_output"]) if data.get("is_final_answer") and data.get("action_output") else final
    if said is None:
        said = "" if any(call.name == _CODE for call in made) else as_text(data.get("model_output"))
    told = data.get("observations") if data.get("error") is None else {"error": as_text(_message(data["error"]))}
    results = [result_of(calls[0].id, told)] if len(calls) == 1 else []
    return Answer([AnswerMessage("assistant", said, calls, usage=_usage(fields_of(data.get("token_usage")))), *results])


def _asked(data: Fields, place: str) -> Sequence[RawCall]:
    """The calls that the model asked for, where a step ended before they were made."""
    output = fields_of(data.get("model_output_message")) or {}
    return call_list(output.get("tool_calls"), inside(place, "model_output_message.tool_calls"))


def _is_final(data: Fields, call: RawCall) -> bool:
    """Whether the call is the library's own, in which an agent gives its answer."""
    return call.name == _FINAL and bool(data.get("is_final_answer"))


def _answer(call: RawCall) -> str:
    arguments = call.arguments
    return as_text(arguments.get("answer", arguments) if isinstance(arguments, dict) else arguments)


def _only_answers(call: RawCall) -> bool:
    """Whether the code of a call does nothing but give a constant as the answer."""
    if call.name != _CODE or not isinstance(call.arguments, str):
        return False
    try:
        statements = ast.parse(call.arguments).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return len(statements) == 1 and isinstance(statements[0], ast.Expr) and _gives_constant(statements[0].value)


def _gives_constant(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != _FINAL:
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return not any(isinstance(each, ast.Call | ast.Await) for value in given for each in ast.walk(value))


def _with_code(call: RawCall) -> RawCall:
    """The call with named arguments: code agents write their code in their place."""
    is_code = call.name == _CODE and isinstance(call.arguments, str)
    return RawCall(call.name, {"code": call.arguments}, call.id) if is_code else call


def _message(error: Any) -> object:
    return error.get("message", error) if isinstance(error, dict) else str(error)


def _usage(data: Fields | None) -> Usage | None:
    return Usage(count(data.get("input_tokens")), count(data.get("output_tokens"))) if data else None
