"""Lists of messages, items, events or steps, and states that hold such a list."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from pytest_fcall.backends.apps.answers.chat import messages_of
from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer
from pytest_fcall.backends.apps.answers.shapes import KNOWN, find_reader
from pytest_fcall.backends.apps.answers.values import Fields, as_text, check_ignored, fields_of, kind_of, list_items
from pytest_fcall.core.values import Message


def read_list(items: Sequence[object], sent: Sequence[Message], place: str = "") -> AppAnswer:
    """The meaning of a list as a whole. What was sent is not read where the list repeats it."""
    messages: list[AnswerMessage] = []
    repeats = True
    for number, item in enumerate(items):
        repeats = repeats and number < len(sent) and item == sent[number]
        if repeats:
            role = sent[number].get("role")
            messages.append(AnswerMessage(role if isinstance(role, str) else "", original=sent[number]))
        else:
            messages += _read(item, inside(place, number)).messages
    return AppAnswer(without_output_tool(messages), is_trail=True)


_CHAT = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})


def _read(item: object, place: str) -> AppAnswer:
    if isinstance(item, dict) and "role" in item and _CHAT.issuperset(item):  # by far the most
        return AppAnswer(messages_of(item, place))
    data = fields_of(item)
    reader = None if data is None else find_reader(data, item)
    if reader is None:
        raise not_understood(place, kind_of(item), KNOWN)
    return reader(place)


def read_state(data: Fields, sent: Sequence[Message]) -> AppAnswer:
    """The messages in the state of a graph, or in the result of a team. The rest may hold anything but calls."""
    answer = read_list(list_items(data["messages"], "messages"), sent, "messages")
    structured = data.get("structured_response")
    hidden = _hidden(answer.messages) if structured is not None else set[str | None]()
    check_ignored(data, ("messages", "structured_response"), "")
    for message in answer.messages:
        left = tuple(call for call in message.calls if call.id not in hidden)
        if left != message.calls:
            message.calls, message.finish = left, None
    answer.messages = [each for each in answer.messages if each.role != "tool" or each.call_id not in hidden]
    if not answer.messages:
        raise AnswerError("the app returned no message: its `messages` are empty")
    return answer


def _hidden(messages: Sequence[AnswerMessage]) -> set[str | None]:
    """The calls in which LangChain's agents give a structured response: the library itself says so in their results."""
    return {each.call_id for each in messages if each.role == "tool" and each.text.startswith(_RETURNED)}


_RETURNED = "Returning structured response: "


def without_output_tool(messages: list[AnswerMessage], own: AbstractSet[Any] = frozenset()) -> list[AnswerMessage]:
    """The messages, where the calls of pydantic-ai's own tools for output have become text."""
    hidden = {
        call.id
        for message in messages
        for call in message.calls
        if call.name in own or (_is_output_tool(call.name) and _is_processed(messages, call.id))
    }
    if not hidden:
        return messages
    kept = [each for each in messages if each.role != "tool" or each.call_id not in hidden]
    for message in kept:
        said = [as_text(call.arguments) for call in message.calls if call.id in hidden]
        message.text += "".join(said)
        message.calls, message.finish = tuple(call for call in message.calls if call.id not in hidden), None
    return kept


def _is_output_tool(name: object) -> bool:
    return isinstance(name, str) and (name == _OUTPUT_TOOL or name.startswith(f"{_OUTPUT_TOOL}_"))


def _is_processed(messages: list[AnswerMessage], call_id: str | None) -> bool:
    return any(each.role == "tool" and each.call_id == call_id and each.text == _PROCESSED for each in messages)


_OUTPUT_TOOL = "final_result"
_PROCESSED = "Final result processed."
"""The name of pydantic-ai's own tool for structured output, and its result. Together they show the origin."""
