"""The parts of a message's content: text, calls, results, and what holds neither."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pytest_fcall.backends.apps.answers.calls import call_from
from pytest_fcall.backends.apps.answers.content import Content
from pytest_fcall.backends.apps.answers.errors import inside, not_understood
from pytest_fcall.backends.apps.answers.ignored import check_ignored, said
from pytest_fcall.backends.apps.answers.message import call_of, result_of
from pytest_fcall.backends.apps.answers.values import Fields, fields_of, joined, kind_of, names, numbered

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
_AI_SDK = frozenset(
    {"source", "source-url", "source-document", "step-start", "reasoning-file", "custom", "dynamic-tool"}
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
    parts = numbered(value, place) if isinstance(value, (list, tuple)) else [(value, place)]
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
    elif isinstance(kind, str) and (kind in _AI_SDK or kind.startswith(("tool-", "data-"))):
        from pytest_fcall.backends.apps.answers.ai_sdk_parts import add_part

        content.is_foreign = True
        add_part(content, data, place)
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
        told: Any = fields_of(data["toolResult"]) or {}
        content.results.append(result_of(told.get("toolUseId"), joined(told.get("content"))))
    content.text += said(data.get("text"), inside(place, "text"))
    check_ignored(data, ("toolUse", "toolResult", "text"), place)


_BEDROCK_HARMLESS = frozenset(
    {"reasoningContent", "image", "document", "video", "cachePoint", "guardContent", "citationsContent"}
)
