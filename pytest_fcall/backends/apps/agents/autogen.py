"""Agents and teams of AutoGen: reset, given the conversation as their model's context, and run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_fcall.backends.apps.agents.known import UnreadTool
from pytest_fcall.backends.apps.agents.messages import History, HistoryCall, HistoryMessage, read_history
from pytest_fcall.core.app import AppRequest


async def call(agent: Any, request: AppRequest) -> object:
    """Run the agent or the team."""
    from autogen_core import CancellationToken

    history = read_history(request, "AutoGen")
    task = [_said(history, history.question())]
    if hasattr(agent, "reset"):
        await agent.reset()
    else:
        await agent.on_reset(CancellationToken())
    if hasattr(agent, "model_context"):
        for message in _context(history, agent.name):
            await agent.model_context.add_message(message)
    else:
        task = [*_told(history), *task]
    return await agent.run(task=task)


def tools(agent: Any) -> list[object]:
    """The tools of the agent, or of all who take part in the team."""
    found: dict[str, object] = {}
    for name, tool in _tools_of(agent):
        found.setdefault(name, tool)
    return [*found.values()]


def _said(history: History, message: HistoryMessage) -> Any:
    """A message as agents send it to each other."""
    from autogen_agentchat.messages import MultiModalMessage, TextMessage

    if message.images:
        return MultiModalMessage(content=_content(history, message), source=message.role)
    return TextMessage(content=message.text, source=message.role)


def _told(history: History) -> Iterator[Any]:
    """The conversation so far, for those who can be told what was said, but not what was called."""
    if history.system:
        raise history.refused("a system message where the agent is no AssistantAgent")
    for message in history.earlier:
        if message.role not in ("user", "assistant") or message.calls:
            raise history.refused("earlier calls or system messages where the agent is no AssistantAgent")
        yield _said(history, message)


def _context(history: History, name: str) -> Iterator[Any]:
    """The conversation so far as messages of the agent's model."""
    from autogen_core.models import SystemMessage, UserMessage

    if history.system:
        yield SystemMessage(content=history.system)
    for message in history.earlier:
        if message.role == "system":
            yield SystemMessage(content=message.text)
        elif message.role == "user":
            content = _content(history, message) if message.images else message.text
            yield UserMessage(content=content, source="user")
        elif message.call:
            yield _result(message.call, message.text)
        else:
            yield _answer(message, name)


def _answer(message: HistoryMessage, name: str) -> Any:
    from autogen_core import FunctionCall
    from autogen_core.models import AssistantMessage

    if not message.calls:
        return AssistantMessage(content=message.text, source=name)
    calls = [FunctionCall(id=each.id, name=each.name, arguments=each.json) for each in message.calls]
    return AssistantMessage(content=calls, thought=message.text or None, source=name)


def _result(call: HistoryCall, text: str) -> Any:
    from autogen_core.models import FunctionExecutionResult, FunctionExecutionResultMessage

    result = FunctionExecutionResult(content=text, name=call.name, call_id=call.id, is_error=False)
    return FunctionExecutionResultMessage(content=[result])


def _content(history: History, message: HistoryMessage) -> list[Any]:
    from autogen_core import Image

    images = [Image.from_base64(history.image_inside(url)[1]) for url in message.images]
    return [*([message.text] if message.text else ()), *images]


def _tools_of(agent: Any) -> Iterator[tuple[str, object]]:
    for participant in getattr(agent, "_participants", None) or ():
        yield from _tools_of(participant)
    for workbench in getattr(agent, "_workbench", None) or ():
        held = getattr(workbench, "_tools", None)
        if held is None:
            name = type(workbench).__name__
            yield name, UnreadTool(name, "its tools are known to a server only, which `mcp:` can name")
        for tool in held or ():
            yield tool.name, _data(tool)
    for tool in getattr(agent, "_handoff_tools", None) or ():
        yield tool.name, _data(tool)


def _data(tool: Any) -> dict[str, Any]:
    schema = tool.schema
    return {
        "name": schema["name"],
        "description": schema.get("description", ""),
        "parameters": schema.get("parameters"),
    }
