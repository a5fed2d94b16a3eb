"""Agents of pydantic-ai: `run`, with the conversation as its messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pytest_fcall.backends.apps.agents.known import UnreadTool, result_without_waiting
from pytest_fcall.backends.apps.agents.messages import History, HistoryMessage, read_history
from pytest_fcall.core.app import AppRequest

if TYPE_CHECKING:
    from contextvars import ContextVar


async def call(agent: Any, request: AppRequest) -> object:
    """Run the agent. Its own system prompts stay, and those of the case are further instructions."""
    history = read_history(request, "pydantic-ai")
    _refuse_missing_dependencies(agent, history)
    prompt = _content(history.now) if history.now else None
    messages = list(_messages(history.earlier))
    if messages:  # with a history, the agent leaves its own system prompts out
        _add_system_prompts(messages, await agent.system_prompt_parts(prompt=prompt))
    options = {"instructions": history.system} if history.system else {}
    return await agent.run(prompt, message_history=messages or None, **options)


def tools(agent: Any) -> list[object]:
    """The tools of all toolsets of the agent but those of MCP servers."""
    return [tool for toolset in agent.toolsets for tool in _tools_of(toolset)]


def _refuse_missing_dependencies(agent: Any, history: History) -> None:
    wanted = getattr(agent, "deps_type", None)
    given: ContextVar[object] | None = getattr(agent, "_override_deps", None)
    if wanted not in (None, object, type(None)) and (given is None or given.get(None) is None):
        raise history.unfit(f"it needs `deps` of the type {wanted.__name__}")


def _messages(said: Sequence[HistoryMessage]) -> Iterator[Any]:
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    for message in said:
        if message.role == "assistant":
            texts = [TextPart(message.text)] if message.text or not message.calls else []
            calls = [ToolCallPart(call.name, call.arguments, call.id) for call in message.calls]
            yield ModelResponse([*texts, *calls])
        elif message.call:
            yield ModelRequest([ToolReturnPart(message.call.name, message.text, message.call.id)])
        elif message.role == "system":
            yield ModelRequest([SystemPromptPart(message.text)])
        else:
            yield ModelRequest([UserPromptPart(_content(message))])


def _add_system_prompts(messages: list[Any], parts: Sequence[Any]) -> None:
    from pydantic_ai.messages import ModelRequest

    if not parts:
        return
    first = messages[0]
    if isinstance(first, ModelRequest):
        messages[0] = ModelRequest([*parts, *first.parts])
    else:
        messages.insert(0, ModelRequest([*parts]))


def _content(message: HistoryMessage) -> Any:
    if not message.images:
        return message.text
    from pydantic_ai.messages import BinaryContent, ImageUrl

    images = [BinaryContent.from_data_uri(url) if url.startswith("data:") else ImageUrl(url) for url in message.images]
    return [message.text, *images]


def _tools_of(toolset: Any) -> Iterator[object]:
    from pydantic_ai import RunContext
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.usage import RunUsage

    found = result_without_waiting(toolset.get_tools(RunContext(deps=None, model=TestModel(), usage=RunUsage())))
    if found is None:
        name = getattr(toolset, "label", None) or type(toolset).__name__
        yield UnreadTool(str(name), "its tools are known to a server only, which `mcp:` can name")
        return
    for each in found.values():
        definition = each.tool_def
        yield {
            "name": definition.name,
            "description": definition.description or "",
            "parameters": definition.parameters_json_schema,
        }
