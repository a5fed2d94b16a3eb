"""Agents of pydantic-ai: `run`, with the conversation as its messages; results of runs, and messages, also as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pytest_fcall.backends.apps.agents.agent import UnreadTool, result_without_waiting
from pytest_fcall.backends.apps.agents.messages import HistoryMessage, MessageHistory, read_history
from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer, call_of, result_of
from pytest_fcall.backends.apps.answers.shapes import without_output_tool
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    check_ignored,
    field,
    fields_of,
    kind_of,
    numbered_items,
    required_fields,
    said,
)
from pytest_fcall.backends.openai.answer_fields import count, engine
from pytest_fcall.core.reply import RawCall, Usage
from pytest_fcall.core.request import AppRequest

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


def _refuse_missing_dependencies(agent: Any, history: MessageHistory) -> None:
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


_CALLS = ("tool-call", "builtin-tool-call")
_RESULTS = ("tool-return", "builtin-tool-return")
_SAID = ("text", "compaction")
_PROMPTS = {"system-prompt": "system", "user-prompt": "user", "instruction": "system"}
_HARMLESS = frozenset(
    {
        *("thinking", "file", "speech", "retry-feedback", "instruction-delta", "tool-availability-delta"),
        *("capability-load-delta", "model-settings-delta", "instruction-digest", "instruction-baseline"),
    }
)
_ABOUT = frozenset({"part_kind", "content", "provider_details", "metadata", "tool_call_id", "retry"})
_UNDERSTOOD = "parts of text, thinking, tool-call, builtin-tool-call, tool-return, retry-prompt, prompts, files"


def read_result(result: Any, place: str = "") -> AppAnswer:
    """The actions of an agent in a run. The tool that carries its output is the library's own."""
    if getattr(result, "is_complete", True) is False:
        raise AnswerError("the app returned the result of a streamed run before its end: await its `get_output()`")
    messages = result.new_messages()
    own = getattr(result, "_output_tool_name", None)
    return _whole(messages, inside(place, "new_messages()"), {own} - {None}, getattr(result, "output", None))


def _whole(messages: Any, place: str, own: set[Any], output: Any) -> AppAnswer:
    read = [
        message
        for each, each_place in numbered_items(messages, place)
        for message in read_message(required_fields(each, each_place, "a message with parts"), each_place).messages
    ]
    return AppAnswer(without_output_tool(read, own), is_trail=True, is_new=True, text=as_text(output) or None)


def read_message(data: Fields, place: str = "") -> AppAnswer:
    """The content of a request or a response: prompts and results, or text and calls."""
    check_ignored(data, ("parts", "kind", "provider_details", "metadata"), place)
    read = [
        _part(required_fields(part, part_place, _UNDERSTOOD), part_place)
        for part, part_place in numbered_items(data.get("parts"), inside(place, "parts"))
    ]
    if data.get("kind") == "request":
        return AppAnswer([each for each in read if isinstance(each, AnswerMessage)])
    model = data.get("model_name")
    message = AnswerMessage(
        "assistant",
        "".join(each for each in read if isinstance(each, str)),
        tuple(each for each in read if isinstance(each, RawCall)),
        usage=_usage(fields_of(data.get("usage"))),
        engine=engine({"model": model} if isinstance(model, str) else {}),
    )
    return AppAnswer([message, *(each for each in read if isinstance(each, AnswerMessage))])


def _usage(data: Fields | None) -> Usage | None:
    if not data:
        return None
    read, written, cached = (
        count(field(data, name)) for name in ("input_tokens", "output_tokens", "cache_read_tokens")
    )
    return Usage(read, written, cached)


def _part(data: Fields, place: str) -> str | RawCall | AnswerMessage | None:
    kind = data.get("part_kind")
    content = data.get("content")
    if not isinstance(kind, str):
        raise not_understood(place, kind_of(data), _UNDERSTOOD)
    if kind in _CALLS:
        return call_of(
            data.get("tool_name"), {} if data.get("args") is None else data["args"], data.get("tool_call_id")
        )
    if kind in _RESULTS or (kind == "retry-prompt" and data.get("tool_name")):
        return result_of(data.get("tool_call_id"), content)
    if kind == "retry-prompt":
        return AnswerMessage("user", as_text(content))
    check_ignored(data, _ABOUT, place)
    if kind in _PROMPTS:
        return AnswerMessage(_PROMPTS[kind], _prompt(content))
    if kind in _SAID:
        return said(content, inside(place, "content"))
    if kind in _HARMLESS:
        return None
    raise not_understood(place, kind_of(data), _UNDERSTOOD)


def _prompt(content: object) -> str:
    """The text of a prompt, which is text or a list of text and files."""
    if not isinstance(content, (list, tuple)):
        return as_text(content)
    held = (each if isinstance(each, str) else (fields_of(each) or {}).get("content") for each in content)
    return "".join(each for each in held if isinstance(each, str))
