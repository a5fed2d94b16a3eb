"""AG2 Classic, which was AutoGen 0.2: the `ChatResult` of `initiate_chat`."""

from __future__ import annotations

from pytest_fcall.backends.apps.answers.chat import messages_of
from pytest_fcall.backends.apps.answers.errors import inside
from pytest_fcall.backends.apps.answers.message import Answer, AnswerMessage, result_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    check_ignored,
    fields_of,
    numbered,
    required_fields,
)

_OTHER_SIDE = {"assistant": "user", "user": "assistant"}
"""The history is that of the agent that began the chat, and so asked: its own messages are an assistant's to it."""


def read_chat(data: Fields, place: str = "") -> Answer:
    """The messages of a chat, the question included."""
    check_ignored(data, ("chat_history",), place)
    messages = [
        message
        for item, item_place in numbered(data["chat_history"], inside(place, "chat_history"))
        for message in _messages(required_fields(item, item_place, "a message"), item_place)
    ]
    return Answer(messages, is_trail=True)


def _messages(data: Fields, place: str) -> list[AnswerMessage]:
    """A message, or what each of several calls gave. Those with calls have the role of the assistant in any case."""
    if told := data.get("tool_responses"):
        results = [fields_of(each) or {} for each, _ in numbered(told, inside(place, "tool_responses"))]
        return [result_of(each.get("tool_call_id"), as_text(each.get("content"))) for each in results]
    role = data.get("role")
    if isinstance(role, str) and not (data.get("tool_calls") or data.get("function_call")):
        role = _OTHER_SIDE.get(role, role)
    return messages_of({**data, "role": role}, place)
