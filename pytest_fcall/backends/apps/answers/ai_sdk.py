"""Vercel's AI SDK, as JSON: messages of models and of its user interface, and what `generateText` gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_fcall.backends.apps.answers.errors import inside, not_understood
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer, Content, call_list
from pytest_fcall.backends.apps.answers.parts import AI_SDK_UNDERSTOOD, add_invocation, content_of, read_tool_result
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    check_ignored,
    field,
    fields_of,
    numbered_items,
    required_fields,
)
from pytest_fcall.backends.openai.answer_fields import count, finish
from pytest_fcall.core.reply import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROLES = ("assistant", "user", "system")


def read_ui_message(data: Fields, place: str = "") -> AppAnswer:
    """A message of the user interface, in which one message of the assistant holds all steps."""
    role = data.get("role")
    if role not in _ROLES:
        raise not_understood(place, f"a message with the role {str(role)[:80]!r}", f"the roles {', '.join(_ROLES)}")
    check_ignored(data, ("parts", "content", "toolInvocations", "role"), place)
    where = inside(place, "parts")
    messages: list[AnswerMessage] = []
    step: list[Any] = []
    for part, _ in numbered_items(data.get("parts"), where):
        if (fields_of(part) or {}).get("type") == "step-start" and step:
            messages += _step(step, role, where)
            step = []
        step.append(part)
    if step:
        messages += _step(step, role, where)
    called = [call.id for message in messages for call in message.calls]
    old = [
        (required_fields(each, each_place, AI_SDK_UNDERSTOOD))
        for each, each_place in numbered_items(data.get("toolInvocations"), inside(place, "toolInvocations"))
    ]
    rest = Content(str(data.get("content") or "") if not messages else "")
    for each in old:
        if each.get("toolCallId") not in called:
            add_invocation(rest, each, each.get("toolName"))
    if rest.calls or not messages:
        messages += [AnswerMessage(role, rest.text, tuple(rest.calls)), *rest.results]
    return AppAnswer(messages, is_trail=len(messages) > 1)


def _step(parts: Sequence[Any], role: str, place: str) -> list[AnswerMessage]:
    content = content_of(list(parts), place)
    return [AnswerMessage(role, content.text, tuple(content.calls)), *content.results]


def read_result(data: Fields, place: str = "") -> AppAnswer:
    """The result of `generateText`, or those of its fields that an app passed on."""
    if data.get("steps"):
        check_ignored(data, _READ, place)
        messages = [
            message
            for step, step_place in numbered_items(data["steps"], inside(place, "steps"))
            for message in _result_messages(required_fields(step, step_place, AI_SDK_UNDERSTOOD), step_place)
        ]
        text = data.get("text")
        return AppAnswer(messages, is_trail=True, is_new=True, text=text if isinstance(text, str) and text else None)
    if data.get("responseMessages"):
        return _all_steps(data, data["responseMessages"], inside(place, "responseMessages"), place)
    if (response := fields_of(data.get("response"))) and response.get("messages") and not data.get("toolCalls"):
        return _all_steps(data, response["messages"], inside(place, "response.messages"), place)
    messages = _result_messages(data, place)
    return AppAnswer(messages, is_trail=len(messages) > 1, is_new=True)


def _all_steps(data: Fields, messages: Any, where: str, place: str) -> AppAnswer:
    """The messages of all steps: before version 7 those of the response, which then holds the last step alone."""
    from pytest_fcall.backends.apps.answers.shapes import read_list

    check_ignored(data, _READ, place)
    return AppAnswer(read_list(messages, (), where).messages, is_trail=True, is_new=True)


_READ = frozenset(
    {
        *("steps", "content", "toolCalls", "toolResults", "response", "responseMessages", "request"),
        *("staticToolCalls", "dynamicToolCalls", "staticToolResults", "dynamicToolResults", "_output", "output"),
    }
)


def _result_messages(data: Fields, place: str) -> list[AnswerMessage]:
    """The message of one step, and what its calls gave."""
    check_ignored(data, _READ, place)
    content = content_of(data.get("content"), inside(place, "content"))
    known = {call.id for call in content.calls}
    for name in ("toolCalls", "staticToolCalls", "dynamicToolCalls"):
        calls = call_list(data.get(name), inside(place, name))
        content.calls += [call for call in calls if call.id is None or call.id not in known]
        known |= {call.id for call in calls}
    answered_ids = {each.call_id for each in content.results}
    for each, each_place in numbered_items(data.get("toolResults"), inside(place, "toolResults")):
        result = read_tool_result(required_fields(each, each_place, AI_SDK_UNDERSTOOD))
        content.results += [] if result.call_id in answered_ids else [result]
    text, reason = data.get("text"), data.get("finishReason")
    message = AnswerMessage(
        "assistant",
        text if isinstance(text, str) else content.text,
        tuple(content.calls),
        finish=finish(reason.replace("-", "_")) if isinstance(reason, str) else None,
        usage=_usage(fields_of(data.get("usage"))),
    )
    return [message, *content.results]


def _usage(data: Fields | None) -> Usage | None:
    if not data:
        return None
    return Usage(
        count(field(data, "inputTokens", "promptTokens")), count(field(data, "outputTokens", "completionTokens"))
    )
