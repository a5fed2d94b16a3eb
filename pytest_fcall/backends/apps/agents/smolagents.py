"""Agents of smolagents: `run`, with the conversation as steps of the memory."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from pytest_fcall.backends.apps.agents.messages import History, HistoryMessage, read_history
from pytest_fcall.core.app import AppRequest

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


def _steps(history: History) -> Iterator[Any]:
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


def _images(history: History, message: HistoryMessage) -> list[Any]:
    if not message.images:
        return []
    from PIL import Image

    data = [base64.b64decode(history.image_inside(url)[1]) for url in message.images]
    return [Image.open(BytesIO(each)) for each in data]
