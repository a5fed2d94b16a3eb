"""The Reply in what an app returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_fcall.backends.apps.answers.common_call import common_call
from pytest_fcall.backends.apps.answers.errors import ALLOWED_ANSWERS, AnswerError
from pytest_fcall.core.reply import Call, Reply
from pytest_fcall.core.values import Message

if TYPE_CHECKING:
    from pytest_fcall.backends.apps.answers.values import Fields

_CHAT = frozenset({"role", "content", "tool_calls", "function_call", "refusal", "name", "tool_call_id"})


def reply_of(answer: object, sent: Sequence[Message] = (), seconds: float | None = None) -> Reply:
    """The Reply in what an app returned after `seconds`.

    `sent` are the messages that the app got, with which its own may begin.

    Raises AnswerError for a value that is not an answer, and for one of which a part is not understood: an answer is
    never one without calls because its calls were overlooked.
    """
    if isinstance(answer, Reply):
        return answer if seconds is None else replace(answer, seconds=seconds)
    if answer is None or isinstance(answer, str):
        return Reply(text=answer or "", seconds=seconds)
    if isinstance(answer, Call):
        return _reply_of_list([answer], sent, seconds)
    try:
        if isinstance(answer, (list, tuple, Sequence)) and not isinstance(answer, (bytes, bytearray)):
            return _reply_of_list(answer, sent, seconds)
        return _reply_of_object(answer, sent, seconds)
    except AnswerError:
        raise
    except RecursionError:
        raise AnswerError("the app returned an answer that is nested too deeply, or contains itself") from None
    except Exception as error:  # of the objects themselves, whose fields may be anything
        raise AnswerError(f"the app returned an answer that cannot be read: {type(error).__name__}: {error}") from error


def _reply_of_list(items: Sequence[Any], sent: Sequence[Message], seconds: float | None) -> Reply:
    if not items:
        # An explicit empty list is the decision to call nothing; an empty text would not be one.
        return Reply(text="[]", decoder="json", seconds=seconds)
    common = [common_call(item) for item in items]
    if None not in common:
        return Reply(tool_calls=tuple(filter(None, common)), finish="tool_calls", seconds=seconds)
    if all(isinstance(item, dict) and "role" in item and _CHAT.issuperset(item) for item in items):
        from pytest_fcall.backends.apps.answers.shapes import read_list

        return read_list(items, sent).reply(sent, seconds)
    from pytest_fcall.backends.apps.answers.values import fields_of

    held = [fields_of(item) for item in items]
    if None in held:
        item = items[held.index(None)]
        raise AnswerError(f"the app returned a list with {item!r:.80} in it; allowed: {ALLOWED_ANSWERS}")
    return _reply_of_objects(items, [data for data in held if data is not None], sent, seconds)


def _reply_of_objects(
    items: Sequence[Any], held: list[Fields], sent: Sequence[Message], seconds: float | None
) -> Reply:
    from pytest_fcall.backends.apps.answers.chat import messages_of
    from pytest_fcall.backends.apps.answers.message import AppAnswer, call_from, is_call
    from pytest_fcall.backends.apps.answers.parts import is_part
    from pytest_fcall.backends.apps.answers.shapes import find_reader, read_list

    if all(map(is_part, held)):
        return AppAnswer(messages_of({"role": "assistant", "content": list(items)}, "")).reply(sent, seconds)
    unknown = [item for item, data in zip(items, held, strict=True) if find_reader(data, item) is None]
    if unknown and all(map(is_call, held)):
        calls = tuple([call_from(item, f"[{number}]") for number, item in enumerate(items)])
        return Reply(tool_calls=calls, finish="tool_calls", seconds=seconds)
    if len(unknown) == len(items):
        raise AnswerError(f"the app returned a list with {unknown[0]!r:.80} in it; allowed: {ALLOWED_ANSWERS}")
    return read_list(items, sent).reply(sent, seconds)


def _reply_of_object(answer: object, sent: Sequence[Message], seconds: float | None) -> Reply:
    data: Fields | None = answer if isinstance(answer, dict) else _fields_of(answer)
    if data is None:
        raise AnswerError(f"the app returned a value of type {type(answer).__name__}; allowed: {ALLOWED_ANSWERS}")
    if "role" in data and not any(value for name, value in data.items() if name not in _CHAT):
        if (reply := _common_reply(data, seconds)) is not None:
            return reply
        from pytest_fcall.backends.apps.answers.chat import read_message

        return read_message(data).reply(sent, seconds)
    if data is answer and "content" not in data and (call := common_call(data)) is not None:
        return Reply(tool_calls=(call,), finish="tool_calls", seconds=seconds)
    from pytest_fcall.backends.apps.answers.message import call_from, is_call

    if data is answer and "name" in data and "role" not in data and is_call(data) and "content" not in data:
        return Reply(tool_calls=(call_from(data, ""),), finish="tool_calls", seconds=seconds)
    if isinstance(data.get("messages"), (list, tuple)) and "role" not in data and "raw" not in data:
        from pytest_fcall.backends.apps.answers.shapes import read_state

        return read_state(data, sent).reply(sent, seconds)
    from pytest_fcall.backends.apps.answers.shapes import find_reader

    if (reader := find_reader(data, answer)) is not None:
        return reader("").reply(sent, seconds)
    return _other(data, answer, sent, seconds)


def _fields_of(answer: object) -> Fields | None:
    from pytest_fcall.backends.apps.answers.values import fields_of

    return fields_of(answer)


def _common_reply(data: Fields, seconds: float | None) -> Reply | None:
    """The reply in a message of the form that nearly all have, read fast; None for one in another form."""
    text, made, refusal = data.get("content"), data.get("tool_calls"), data.get("refusal")
    if data["role"] != "assistant" or not isinstance(text, str | None) or not isinstance(refusal, str | None):
        return None
    if data.get("function_call") is not None or not isinstance(made, list | None):
        return None
    calls = tuple([call for each in made or () if (call := common_call(each)) is not None])
    if len(calls) < len(made or ()):
        return None
    return Reply(text or "", calls, "tool_calls" if calls else "stop", refusal or None, seconds=seconds)


def _other(data: Fields, answer: object, sent: Sequence[Message], seconds: float | None) -> Reply:
    from pytest_fcall.backends.apps.answers.message import call_from, is_call
    from pytest_fcall.backends.apps.answers.parts import is_part

    if is_part(data):
        return _reply_of_objects([answer], [data], sent, seconds)
    if is_call(data):
        return Reply(tool_calls=(call_from(answer, ""),), finish="tool_calls", seconds=seconds)
    keys = ", ".join(repr(key) for key in list(data)[:5]) or "no keys"
    kind = "dict" if isinstance(answer, Mapping) else type(answer).__name__
    raise AnswerError(f"the app returned a {kind} with {keys}; allowed: {ALLOWED_ANSWERS}")
