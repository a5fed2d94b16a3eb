"""OpenAI's Responses: whole responses, and the items of their input and output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from pytest_fcall.backends.apps.answers.chat import messages_of
from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer, call_of, result_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    check_ignored,
    field,
    join_texts,
    kind_of,
    names,
    numbered_items,
    plain,
    required_fields,
)
from pytest_fcall.backends.openai.answer_fields import engine, text, usage
from pytest_fcall.core.reply import Finish

_HOSTED: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "web_search_call": ("web_search", ("action",)),
        "file_search_call": ("file_search", ("queries",)),
        "computer_call": ("computer", ("action", "actions")),
        "code_interpreter_call": ("code_interpreter", ("code",)),
        "image_generation_call": ("image_generation", ("action",)),
        "local_shell_call": ("local_shell", ("action",)),
        "shell_call": ("shell", ("action",)),
        "apply_patch_call": ("apply_patch", ("operation",)),
        "tool_search_call": ("tool_search", ("arguments",)),
        "program": ("program", ("code",)),
    }
)
"""Calls of tools that the provider has: the name of the tool, and the fields that are its arguments."""
_NAMED_CALLS = frozenset({"function_call", "custom_tool_call", "mcp_call", "mcp_approval_request"})
_RESULTS = frozenset(
    {
        *("function_call_output", "custom_tool_call_output", "computer_call_output", "local_shell_call_output"),
        *("shell_call_output", "apply_patch_call_output", "tool_search_output", "program_output"),
    }
)
_HARMLESS = frozenset(
    {
        *("reasoning", "compaction", "compaction_trigger", "compaction_summary", "item_reference"),
        *("mcp_list_tools", "mcp_approval_response", "additional_tools"),
    }
)
ITEM_TYPES = frozenset({*_HOSTED, *_NAMED_CALLS, *_RESULTS, *_HARMLESS, "message"})
_INCOMPLETE: Mapping[str, Finish] = MappingProxyType(
    {"max_output_tokens": "length", "max_tokens": "length", "content_filter": "content_filter"}
)


def read_response(data: Fields, place: str = "") -> AppAnswer:
    """The message that the output of a response is."""
    if data.get("error") or data.get("status") not in ("completed", "incomplete", None):
        status = data.get("status")
        raise AnswerError(f"the app returned a response that did not come to an end: its status is {status!r:.80}")
    check_ignored(data, _ECHOED, place)
    messages = [
        message
        for item, item_place in numbered_items(data.get("output"), inside(place, "output"))
        for message in read_item(required_fields(item, item_place, "an item of a response"), item_place).messages
    ]
    said: dict[str, Any] = {"usage": usage(plain(data.get("usage"))), "engine": engine(data)}
    if data.get("status") == "incomplete":
        details = plain(data.get("incomplete_details")) or {}
        said["finish"] = _INCOMPLETE.get(text(details.get("reason")) or "", "unknown")
    if not any(message.role == "assistant" for message in messages):
        messages.append(AnswerMessage("assistant", is_piece=True))
    return AppAnswer([_joined_output(messages, said), *(each for each in messages if each.role != "assistant")])


_ECHOED = ("output", "tools", "tool_choice", "instructions", "parallel_tool_calls", "max_tool_calls", "tool_usage")
"""The part that was read, and the part that the request had."""


def _joined_output(messages: list[AnswerMessage], said: Mapping[str, Any]) -> AnswerMessage:
    pieces = [message for message in messages if message.role == "assistant"]
    refusal = next((piece.refusal for piece in pieces if piece.refusal), None)
    calls = tuple(call for piece in pieces for call in piece.calls)
    finish: Finish = "refusal" if refusal else "tool_calls" if calls else "stop"
    whole = AnswerMessage("assistant", "".join(piece.text for piece in pieces), calls, refusal=refusal)
    return replace(whole, **{"finish": finish, **said})


def read_item(data: Fields, place: str = "") -> AppAnswer:
    """The meaning of an item of the input or the output: a message, a call, or the result of one."""
    kind = data.get("type")
    if not isinstance(kind, str | None):
        raise not_understood(place, kind_of(data), f"the items {names(ITEM_TYPES)}")
    if kind == "message" or (kind is None and "role" in data):
        messages = messages_of(data, place)
        return AppAnswer([replace(each, is_piece=True) if each.role == "assistant" else each for each in messages])
    call_id = field(data, "call_id", "id")
    if kind in _NAMED_CALLS:
        call = call_of(data.get("name"), data["arguments"] if "arguments" in data else data.get("input"), call_id)
        return AppAnswer([AnswerMessage("assistant", calls=(call,), is_piece=True)])
    if hosted := _HOSTED.get(kind or ""):
        name, arguments = hosted
        given = {each: data[each] for each in arguments if data.get(each) is not None}
        return AppAnswer([AnswerMessage("assistant", calls=(call_of(name, given, call_id),), is_piece=True)])
    if kind in _RESULTS:
        return AppAnswer([result_of(call_id, join_texts(data.get("output")))])
    if kind in _HARMLESS:
        check_ignored(data, ("type", "tools"), place)
        return AppAnswer([])
    raise not_understood(place, kind_of(data), f"the items {names(ITEM_TYPES)}")
