"""Gemini: responses, contents and parts, in JSON's names or Python's."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer, call_of, result_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    check_ignored,
    field,
    fields_of,
    kind_of,
    numbered_items,
    plain,
    required_fields,
    word,
)
from pytest_fcall.backends.openai.answer_fields import count
from pytest_fcall.backends.openai.answer_fields import finish as known_finish
from pytest_fcall.core.reply import Finish, RawCall, Usage

_CALLS = ("function_call", "functionCall")
_RESULTS = ("function_response", "functionResponse")
_HOSTED = ("tool_call", "toolCall")
_CODE = ("executable_code", "executableCode")
_HARMLESS = frozenset(
    {
        *("text", "thought", "inline_data", "inlineData", "file_data", "fileData"),
        *("code_execution_result", "codeExecutionResult", "tool_response", "toolResponse"),
    }
)
_READ = frozenset({*_CALLS, *_RESULTS, *_HOSTED, *_CODE, *_HARMLESS})
_ABOUT = ("thought_signature", "thoughtSignature", "media_resolution", "mediaResolution", "video_metadata")
_UNDERSTOOD = "parts with text, function_call, function_response, executable_code, tool_call, inline_data or file_data"
_ROLES = {
    "model": "assistant",
    "assistant": "assistant",
    "user": "user",
    "function": "user",
    "tool": "user",
    "": "user",
}


def read_response(data: Fields, place: str = "") -> AppAnswer:
    """The message of the first candidate, after the calls that the library carried out itself."""
    check_ignored(data, ("candidates", *_HISTORY), place)
    where = inside(place, "candidates")
    messages: list[AnswerMessage] = []
    for candidate, candidate_place in numbered_items(data.get("candidates"), where):
        read = _candidate(required_fields(candidate, candidate_place, "a candidate"), candidate_place)
        if messages and any(message.calls for message in read):
            raise not_understood(candidate_place, "a second candidate with calls", "one candidate")
        messages = messages or read
    if not messages:
        messages = [AnswerMessage("assistant", finish="content_filter")]
    tokens = _usage(fields_of(field(data, "usage_metadata", "usageMetadata")))
    version = field(data, "model_version", "modelVersion")
    messages[0] = replace(messages[0], usage=tokens, engine={"model": version} if isinstance(version, str) else {})
    if (history := field(data, *_HISTORY)) is None:
        return AppAnswer(messages)
    done = [
        message
        for content, content_place in numbered_items(history, inside(place, _HISTORY[0]))
        for message in read_content(required_fields(content, content_place, "a content"), content_place).messages
    ]
    return AppAnswer([*done, *messages], is_trail=True)


_HISTORY = ("automatic_function_calling_history", "automaticFunctionCallingHistory")


def _candidate(data: Fields, place: str) -> list[AnswerMessage]:
    check_ignored(data, ("content", "finish_reason", "finishReason"), place)
    content = fields_of(data.get("content")) or {}
    messages = read_content({**content, "role": "model"}, inside(place, "content")).messages
    reason = word(field(data, "finish_reason", "finishReason"))
    malformed = f"The provider could not read the model's call: {reason}." if reason in _MALFORMED else None
    finish: Finish = "tool_calls" if reason == "stop" and messages[0].calls else known_finish(reason)
    return [replace(messages[0], finish=finish, malformed=malformed), *messages[1:]]


_MALFORMED = ("malformed_function_call", "unexpected_tool_call", "too_many_tool_calls")


def _usage(data: Fields | None) -> Usage | None:
    if not data:
        return None
    answer_tokens = count(field(data, "candidates_token_count", "candidatesTokenCount"))
    thought = count(field(data, "thoughts_token_count", "thoughtsTokenCount"))
    return Usage(
        count(field(data, "prompt_token_count", "promptTokenCount")),
        None if answer_tokens is None else answer_tokens + (thought or 0),
        count(field(data, "cached_content_token_count", "cachedContentTokenCount")),
        thought,
    )


def read_content(data: Fields, place: str = "") -> AppAnswer:
    """The message that a content is, and the results of calls that it holds."""
    role = _ROLES.get(word(data.get("role")))
    if role is None:
        what = f"a content with the role {str(data.get('role'))[:80]!r}"
        raise not_understood(place, what, f"the roles {', '.join(filter(None, _ROLES))}")
    check_ignored(data, ("parts", "role"), place)
    texts: list[str] = []
    calls: list[RawCall] = []
    results: list[AnswerMessage] = []
    for part, part_place in numbered_items(data.get("parts"), inside(place, "parts")):
        _read_part(required_fields(part, part_place, _UNDERSTOOD), part_place, texts, calls, results)
    own = [] if results and not texts and not calls else [AnswerMessage(role, "".join(texts), tuple(calls))]
    if calls and role != "assistant":
        raise not_understood(place, f"a content of the {role} that holds calls", "calls of the role 'model'")
    return AppAnswer([*own, *results])


def _read_part(data: Fields, place: str, texts: list[str], calls: list[RawCall], results: list[AnswerMessage]) -> None:
    present = {name for name, value in data.items() if value is not None}
    if not present & _READ:
        if present - frozenset(_ABOUT):
            raise not_understood(place, kind_of(data), _UNDERSTOOD)
        return
    check_ignored(data, _READ, place)
    if (text := data.get("text")) is not None and not data.get("thought"):
        texts.append(str(text))
    if (call := field(data, *_CALLS)) is not None:
        made = required_fields(call, inside(place, _CALLS[0]), "a call with `name` and `args`")
        if field(made, "will_continue", "willContinue"):
            raise AnswerError(f"the app returned an answer whose {inside(place, _CALLS[0])} is a part of a call only")
        calls.append(call_of(made.get("name"), made.get("args") or {}, made.get("id")))
    if (response := field(data, *_RESULTS)) is not None:
        result = required_fields(response, inside(place, _RESULTS[0]), "a result with `response`")
        results.append(result_of(result.get("id") or result.get("name"), result.get("response")))
    if (hosted := field(data, *_HOSTED)) is not None:
        used = required_fields(hosted, inside(place, _HOSTED[0]), "a call with `tool_type` and `args`")
        calls.append(call_of(word(field(used, "tool_type", "toolType")), used.get("args") or {}, used.get("id")))
    if (code := field(data, *_CODE)) is not None:
        calls.append(call_of("code_execution", plain(code), None))
