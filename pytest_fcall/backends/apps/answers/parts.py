"""The parts of a message's content: text, calls, results, and what holds neither."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pytest_fcall.backends.apps.answers.errors import inside, not_understood
from pytest_fcall.backends.apps.answers.message import AnswerMessage, Content, call_from, call_of, result_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    check_ignored,
    field,
    fields_of,
    join_texts,
    kind_of,
    names,
    numbered_items,
    required_fields,
    said,
)
from pytest_fcall.core.reply import RawCall

_TEXT = frozenset({"text", "output_text", "input_text"})
_ANTHROPIC_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_LANGCHAIN_CALLS = frozenset({"tool_call", "invalid_tool_call", "server_tool_call"})
_RESULTS = frozenset(
    {
        "tool_result",
        "server_tool_result",
        "mcp_tool_result",
        "advisor_tool_result",
        "bash_code_execution_tool_result",
        "code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "web_fetch_tool_result",
        "web_search_tool_result",
    }
)
_HARMLESS = frozenset(
    {
        *("thinking", "redacted_thinking", "reasoning", "reasoning_text", "reasoning_content", "summary_text"),
        *("image", "image_url", "input_image", "output_image", "image_file", "video", "video_url", "input_video"),
        *("audio", "input_audio", "output_audio", "audio_url", "media"),
        *("file", "input_file", "document", "container_upload", "text-plain"),
        *("search_result", "citation", "compaction", "fallback", "cache-point", "cachePoint", "guard_content"),
        *("mcp_tool_listing", "tool_reference", "tool_addition", "tool_removal"),
    }
)
"""Parts without calls in the forms of OpenAI, Anthropic and LangChain."""
_AI_SDK_RESULTS = ("tool-result", "tool-error", "tool-output-denied")
_AI_SDK_HARMLESS = frozenset(
    {
        *("source", "source-url", "source-document", "step-start", "reasoning-file", "custom"),
        *("tool-approval-request", "tool-approval-response"),
    }
)
_AI_SDK_STREAMED = (
    "tool-input-start",
    "tool-input-delta",
    "tool-input-end",
    "tool-input-available",
    "tool-input-error",
)
_AI_SDK_APPROVED = ("toolCall", "toolCallId")
"""Of requests for approval: the call itself is a part, too."""
AI_SDK_UNDERSTOOD = (
    "parts of text, reasoning, file, source, step-start, data-NAME, tool-call, tool-result, tool-NAME, dynamic-tool"
)
_BEDROCK_HARMLESS = frozenset(
    {"reasoningContent", "image", "document", "video", "cachePoint", "guardContent", "citationsContent"}
)
_UNTYPED: Mapping[str, str] = MappingProxyType({"toolUse": "call", "toolResult": "result", "text": "text"})
"""Parts without a type, as Bedrock writes them, by the field that they have."""
_UNDERSTOOD = (
    f"the parts of text, {names(_ANTHROPIC_CALLS | _LANGCHAIN_CALLS)}, tool-call, tool-NAME, dynamic-tool, "
    "results of tools, reasoning, images, audio, files, citations"
)


def content_of(value: object, place: str) -> Content:
    """The parts of a content: text, or a list of parts. Raises AnswerError for a part that is not understood."""
    if not value or isinstance(value, str):
        return Content(value if isinstance(value, str) else "")
    content = Content()
    parts = numbered_items(value, place) if isinstance(value, (list, tuple)) else [(value, place)]
    for part, part_place in parts:
        if isinstance(part, str):
            content.text += part
        elif part is not None:
            _add_part(content, part, part_place)
    return content


def is_part(data: Fields) -> bool:
    """Whether these are the fields of a part that may stand in a list without a message around it."""
    kind = data.get("type")
    return (
        "role" not in data
        and isinstance(kind, str)
        and (kind in _TEXT or kind in _ANTHROPIC_CALLS or kind in _RESULTS or kind in _HARMLESS or kind == "refusal")
    )


def _add_part(content: Content, part: object, place: str) -> None:
    data = fields_of(part)
    if data is None:
        raise not_understood(place, kind_of(part), _UNDERSTOOD)
    kind = data.get("type")
    if not isinstance(kind, str | None):
        raise not_understood(place, kind_of(part), _UNDERSTOOD)
    if kind in _TEXT:
        content.text += said(data.get("text"), inside(place, "text"))
        content.is_foreign = content.is_foreign or kind != "text"
        check_ignored(data, ("text",), place)
    elif kind in _ANTHROPIC_CALLS or kind in _LANGCHAIN_CALLS:
        content.calls.append(call_from(data, place))
        content.is_foreign = content.is_foreign or kind != "tool_use"
    elif kind == "refusal":
        content.refusal = content.refusal or said(data.get("refusal"), inside(place, "refusal")) or None
        check_ignored(data, ("refusal",), place)
    elif kind in _RESULTS:
        content.is_foreign = content.is_foreign or kind == "server_tool_result"
    elif kind in _HARMLESS:
        check_ignored(data, ("type",), place)
    elif kind is None:
        _add_untyped(content, data, place)
    elif isinstance(kind, str) and (
        kind in _AI_SDK_HARMLESS or kind == "dynamic-tool" or kind.startswith(("tool-", "data-"))
    ):
        content.is_foreign = True
        _add_ai_sdk_part(content, data, place)
    else:
        raise not_understood(place, kind_of(part), _UNDERSTOOD)


def _add_untyped(content: Content, data: Fields, place: str) -> None:
    """Bedrock's parts, and text that has no type."""
    kinds = [kind for name, kind in _UNTYPED.items() if name in data]
    if not kinds and not data.keys() & _BEDROCK_HARMLESS:
        raise not_understood(place, kind_of(data), _UNDERSTOOD)
    content.is_foreign = True
    if "toolUse" in data:
        use: Any = fields_of(data["toolUse"]) or {}
        content.calls.append(call_of(use.get("name"), use.get("input", {}), use.get("toolUseId")))
    if "toolResult" in data:
        tool_result: Any = fields_of(data["toolResult"]) or {}
        content.results.append(result_of(tool_result.get("toolUseId"), join_texts(tool_result.get("content"))))
    content.text += said(data.get("text"), inside(place, "text"))
    check_ignored(data, ("toolUse", "toolResult", "text"), place)


def _add_ai_sdk_part(content: Content, data: Fields, place: str) -> None:
    """Add a part of a message, whose type is one of the AI SDK's."""
    kind = str(data.get("type"))
    if "state" in data and "toolName" not in data and "toolCallId" in data:  # a tool may be called `result`
        add_invocation(content, data, kind.removeprefix("tool-"))
    elif kind == "tool-call":
        content.calls.append(_ai_sdk_call(data, data.get("toolName")))
    elif kind in _AI_SDK_RESULTS:
        content.results.append(read_tool_result(data))
    elif kind == "tool-invocation":
        held = required_fields(data.get("toolInvocation"), inside(place, "toolInvocation"), AI_SDK_UNDERSTOOD)
        add_invocation(content, held, held.get("toolName"))
    elif kind == "dynamic-tool":
        add_invocation(content, data, data.get("toolName"))
    elif kind in _AI_SDK_STREAMED:
        raise not_understood(place, kind_of(data), f"{AI_SDK_UNDERSTOOD}; a stream is read when its messages are whole")
    elif kind in _AI_SDK_HARMLESS or kind.startswith("data-"):
        check_ignored(data, ("type", *_AI_SDK_APPROVED), place)
    else:
        raise not_understood(place, kind_of(data), AI_SDK_UNDERSTOOD)


def _ai_sdk_call(data: Fields, name: object) -> RawCall:
    given = data["input"] if "input" in data else data.get("args", data.get("rawInput"))
    return call_of(name, {} if given is None else given, data.get("toolCallId"))


def read_tool_result(data: Fields) -> AnswerMessage:
    """The result of a call, as the AI SDK writes it."""
    output = data["output"] if "output" in data else data.get("result", data.get("error"))
    is_wrapped = "input" not in data and "args" not in data
    return result_of(data.get("toolCallId"), _unwrapped(output) if is_wrapped else output)


def _unwrapped(output: Any) -> Any:
    """The value of an output, which messages of models wrap together with its kind, and steps do not."""
    if isinstance(output, Mapping) and output.keys() >= {"type", "value"}:
        return {"error": output["value"]} if str(output["type"]).startswith("error") else output["value"]
    return output


def add_invocation(content: Content, data: Fields, name: object) -> None:
    """Add a call of the AI SDK's user interface, and what it gave."""
    content.calls.append(_ai_sdk_call(data, name))
    if data.get("errorText") is not None:
        content.results.append(result_of(data.get("toolCallId"), {"error": data["errorText"]}))
    elif (given := field(data, "output", "result")) is not None:
        content.results.append(result_of(data.get("toolCallId"), given))
