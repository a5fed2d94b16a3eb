"""Agents of openai-agents: `Runner.run`, with the conversation as items of the Responses API; results, and items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_fcall.backends.apps.agents.agent import UnreadTool
from pytest_fcall.backends.apps.agents.messages import HistoryMessage, read_history
from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer
from pytest_fcall.backends.apps.answers.responses import read_item as read_response_item
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    check_ignored,
    field,
    kind_of,
    numbered_items,
    required_fields,
)
from pytest_fcall.backends.openai.answer_fields import count
from pytest_fcall.core.reply import Usage
from pytest_fcall.core.request import AppRequest

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


_UNDERSTOOD = "the items of a run, each with the `raw_item` that went to or came from the model"

_ABOUT = frozenset(
    {
        *("raw_item", "type", "agent", "output", "tool_origin", "custom_data", "_agent_ref"),
        *("source_agent", "target_agent", "_source_agent_ref", "_target_agent_ref"),
    }
)
"""Of an item: what it holds, who it is from, and what a call gave."""
_RUN = frozenset(
    {
        *("new_items", "input", "raw_responses", "context_wrapper", "final_output", "interruptions"),
        *("tool_input_guardrail_results", "tool_output_guardrail_results", "current_agent", "trace", "run_loop_task"),
    }
)
"""Of a run: its items, what else tells of them, and who was at work in a streamed one."""


def read_result(data: Fields, place: str = "") -> AppAnswer:
    """The actions of an agent in a run."""
    if data.get("is_complete") is False:
        raise AnswerError(
            "the app returned the result of a streamed run before its end: iterate over `stream_events()` to its end"
        )
    check_ignored({name: each for name, each in data.items() if not name.startswith("_")}, _RUN, place)
    messages = [
        message
        for item, item_place in numbered_items(data.get("new_items"), inside(place, "new_items"))
        for message in read_item(required_fields(item, item_place, _UNDERSTOOD), item_place).messages
    ]
    if not any(message.role == "assistant" for message in messages):
        messages.append(AnswerMessage("assistant", as_text(data.get("final_output"))))
    return AppAnswer(messages, is_trail=True, is_new=True, text=as_text(data.get("final_output")) or None)


def read_item(data: Fields, place: str = "") -> AppAnswer:
    """The meaning of an item of a run. Handing over to another agent is a call, as it is for the model."""
    kind = data.get("type")
    if kind == "tool_approval_item":  # the call itself is an item, too
        return AppAnswer([])
    check_ignored(data, _ABOUT, place)
    raw = required_fields(data.get("raw_item"), inside(place, "raw_item"), _UNDERSTOOD)
    if raw.get("type") is None and "role" not in raw:
        raise not_understood(inside(place, "raw_item"), kind_of(raw), _UNDERSTOOD)
    return read_response_item(raw, inside(place, "raw_item"))


def read_model_response(data: Fields, place: str = "") -> AppAnswer:
    """The reply of a model, as the library keeps it beside the items of a run."""
    from pytest_fcall.backends.apps.answers.responses import read_response

    check_ignored(data, ("output", "raw_usage"), place)
    tokens = required_fields(data.get("usage"), inside(place, "usage"), "counts of tokens")
    answer = read_response({"output": data.get("output")}, place)
    answer.messages[0].usage = Usage(count(field(tokens, "input_tokens")), count(field(tokens, "output_tokens")))
    return answer
