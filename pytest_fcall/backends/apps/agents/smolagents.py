"""Agents of smolagents: `run`, with the conversation as steps of the memory; full results, and steps, also as JSON."""

from __future__ import annotations

import ast
import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from pytest_fcall.backends.apps.agents.messages import HistoryMessage, MessageHistory, read_history
from pytest_fcall.backends.apps.answers.errors import inside, not_understood
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer, call_list, result_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    check_ignored,
    fields_of,
    kind_of,
    numbered_items,
    required_fields,
)
from pytest_fcall.backends.openai.answer_fields import count
from pytest_fcall.core.reply import RawCall, Usage
from pytest_fcall.core.request import AppRequest

_FINAL_ANSWER = "final_answer"
"""The tool by which every agent ends; it is none of the team's."""


def call(agent: Any, request: AppRequest) -> object:
    """Run the agent with a memory of its own, and return the result with the steps of this run."""
    history = read_history(request, "smolagents")
    question = history.question()
    with _fresh(agent, history.system):
        steps = list(_steps(history))
        agent.memory.reset()
        agent.monitor.reset()
        agent.memory.steps.extend(steps)
        images = _images(history, question) or None
        result = agent.run(question.text, reset=False, images=images, return_full_result=True)
    result.steps = result.steps[len(steps) :]
    return result


def tools(agent: Any) -> list[object]:
    """The tools of the agent, and the agents that it manages, which its model calls like tools."""
    from smolagents.models import get_tool_json_schema

    offered = (*agent.tools.values(), *getattr(agent, "managed_agents", {}).values())
    return [get_tool_json_schema(tool) for tool in offered if tool.name != _FINAL_ANSWER]


@contextmanager
def _fresh(agent: Any, system: str) -> Iterator[None]:
    """Let the agent forget what it and its programs have kept, and give it the case's instructions meanwhile."""
    state, instructions = dict(agent.state), agent.instructions
    if type(getattr(agent, "python_executor", None)).__name__ == "LocalPythonExecutor":
        agent.python_executor = agent.create_python_executor()
    agent.instructions = "\n\n".join(filter(None, (instructions, system))) or None
    try:
        yield
    finally:
        agent.instructions = instructions
        agent.state.clear()
        agent.state.update(state)


def _steps(history: MessageHistory) -> Iterator[Any]:
    """The steps that the memory would have had, with the results of calls in the step of the calls."""
    from smolagents.memory import ActionStep, TaskStep, ToolCall
    from smolagents.monitoring import Timing

    said = list(history.earlier)
    for index, message in enumerate(said):
        if message.role == "system":
            raise history.refused("a system message in the middle of a conversation")
        if message.role == "user":
            yield TaskStep(message.text, _images(history, message) or None)
        elif message.role == "assistant":
            yield ActionStep(
                index + 1,
                Timing(0, 0),
                tool_calls=[ToolCall(each.name, each.arguments, each.id) for each in message.calls] or None,
                model_output=message.text or None,
                observations=_observations(said[index + 1 :]),
            )


def _observations(after: Sequence[HistoryMessage]) -> str | None:
    results = []
    for message in after:
        if message.role != "tool":
            break
        results.append(message.text)
    return "\n".join(results) if results else None


def _images(history: MessageHistory, message: HistoryMessage) -> list[Any]:
    if not message.images:
        return []
    from PIL import Image

    data = [base64.b64decode(history.image_inside(url)[1]) for url in message.images]
    return [Image.open(BytesIO(each)) for each in data]


_FINAL = "final_answer"
_CODE = "python_interpreter"
_STEP = frozenset(
    {"tool_calls", "model_output_message", "model_input_messages", "model_output", "code_action", "observations"}
)
_UNDERSTOOD = "the steps of a run"


def read_result(data: Fields, place: str = "") -> AppAnswer:
    """The actions of an agent in a run."""
    check_ignored(data, ("steps", "output"), place)
    messages = [
        message
        for step, step_place in numbered_items(data.get("steps"), inside(place, "steps"))
        for message in read_step(required_fields(step, step_place, _UNDERSTOOD), step_place).messages
    ]
    if not any(message.role == "assistant" for message in messages):
        messages.append(AnswerMessage("assistant"))
    return AppAnswer(messages, is_trail=True, is_new=True, text=as_text(data.get("output")))


def read_step(data: Fields, place: str = "") -> AppAnswer:
    """The meaning of a step: the task, a plan, or calls and their results together."""
    check_ignored(data, _STEP, place)
    if "task" in data:
        return AppAnswer([AnswerMessage("user", as_text(data["task"]))])
    if "system_prompt" in data:
        return AppAnswer([AnswerMessage("system", as_text(data["system_prompt"]))])
    if "plan" in data:
        return AppAnswer([AnswerMessage("assistant", as_text(data["plan"]))])
    if "step_number" not in data and data.keys() != {"output"}:
        raise not_understood(place, kind_of(data), _UNDERSTOOD)
    if "step_number" not in data:
        return AppAnswer([AnswerMessage("assistant", as_text(data.get("output")))])
    made = call_list(data.get("tool_calls"), inside(place, "tool_calls")) or _asked(data, place)
    calls = tuple(_with_code(call) for call in made if not (_is_final(data, call) or _only_answers(call)))
    final = next((_answer(call) for call in made if _is_final(data, call)), None)
    said = as_text(data["action_output"]) if data.get("is_final_answer") and data.get("action_output") else final
    if said is None:
        said = "" if any(call.name == _CODE for call in made) else as_text(data.get("model_output"))
    observation = data.get("observations") if data.get("error") is None else {"error": as_text(_message(data["error"]))}
    results = [result_of(calls[0].id, observation)] if len(calls) == 1 else []
    return AppAnswer(
        [AnswerMessage("assistant", said, calls, usage=_usage(fields_of(data.get("token_usage")))), *results]
    )


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
