"""Agents of openai-agents: `Runner.run`, with the conversation as items of the Responses API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_fcall.backends.apps.agents.known import UnreadTool
from pytest_fcall.backends.apps.agents.messages import HistoryMessage, read_history
from pytest_fcall.core.app import AppRequest

_TITLE = "openai-agents"


async def call(agent: Any, request: AppRequest) -> object:
    """Run the agent, without a session of earlier conversations."""
    from agents import Runner

    history = read_history(request, _TITLE)
    items: list[Any] = [{"role": "system", "content": history.system}] if history.system else []
    for message in (*history.earlier, *([history.now] if history.now else ())):
        items += _items(message)
    return await Runner.run(agent, items)


def tools(agent: Any) -> list[object]:
    """The tools of the agent and of those that it may hand over to."""
    found: dict[str, object] = {}
    for tool in _tools_of(agent, set()):
        name = tool.name if isinstance(tool, UnreadTool) else tool["name"]
        found.setdefault(name, tool)
    return [*found.values()]


def _items(message: HistoryMessage) -> Iterator[dict[str, Any]]:
    if message.call:
        yield {"type": "function_call_output", "call_id": message.call.id, "output": message.text}
        return
    if message.text or message.images or not message.calls:
        content: Any = message.text
        if message.images:
            images = [{"type": "input_image", "image_url": url, "detail": "auto"} for url in message.images]
            content = [*([{"type": "input_text", "text": message.text}] if message.text else ()), *images]
        yield {"role": message.role, "content": content}
    for each in message.calls:
        yield {"type": "function_call", "call_id": each.id, "name": each.name, "arguments": each.json}


def _tools_of(agent: Any, seen: set[int]) -> Iterator[Any]:
    if id(agent) in seen:
        return
    seen.add(id(agent))
    for tool in agent.tools:
        if not hasattr(tool, "params_json_schema"):
            yield UnreadTool(str(getattr(tool, "name", type(tool).__name__)), "the provider runs it")
        elif getattr(tool, "is_enabled", True) is not False:
            yield {"name": tool.name, "description": tool.description, "parameters": tool.params_json_schema}
    for server in getattr(agent, "mcp_servers", ()):
        yield UnreadTool(str(server.name), "its tools are known to a server only, which `mcp:` can name")
    for other in agent.handoffs:
        yield from _handoff(other, seen)


def _handoff(other: Any, seen: set[int]) -> Iterator[Any]:
    """The tool that hands over to another agent, and that agent's tools."""
    from agents import Handoff, handoff

    if isinstance(other, Handoff):
        found, agent = other, None
    else:
        found, agent = handoff(other), other
    yield {"name": found.tool_name, "description": found.tool_description, "parameters": found.input_json_schema}
    if agent is None:
        agent = _agent_behind(found)
    if agent is None:
        yield UnreadTool(found.agent_name, "it is known by its handoff only, which keeps its tools to itself")
    else:
        yield from _tools_of(agent, seen)


def _agent_behind(found: Any) -> Any:
    """The agent of a Handoff, which refers to it weakly."""
    reference = getattr(found, "_agent_ref", None)
    return reference() if callable(reference) else None
