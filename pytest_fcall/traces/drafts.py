"""Drafts of cases, made of records: the messages of the user, the calls, and their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from pytest_fcall.core.reply import Call, RawCall, Reply
from pytest_fcall.core.values import Json, Message
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.traces.record import Record, UnusableRecord
from pytest_fcall.traces.values import check_depth, items, mapping, parse_json_text, text


@dataclass(frozen=True, slots=True)
class DraftCall:
    """A call and its result, where the trace holds one."""

    call: Call
    result: str | None = None
    is_error: bool = False
    """Whether the result is the text of an error."""


@dataclass(frozen=True, slots=True)
class DraftTurn:
    """A message of the user, and the calls of the replies that follow."""

    user: Json
    steps: tuple[tuple[DraftCall, ...], ...]


@dataclass(frozen=True, slots=True)
class CaseDraft:
    """A case to be written."""

    record: Record
    turns: tuple[DraftTurn, ...]
    system: str = ""
    earlier_messages: tuple[Message, ...] = ()
    """All messages before the answer, where they are more than a system message and a prompt."""
    answer: str = ""
    """The last text of the model, for the reviewer."""

    @property
    def calls(self) -> Iterator[DraftCall]:
        """All calls, in order."""
        return (call for turn in self.turns for step in turn.steps for call in step)

    @property
    def question_text(self) -> str:
        """The first message of the user as text; with earlier messages, the last one among them."""
        earlier = (message["content"] for message in reversed(self.earlier_messages) if message["role"] == "user")
        content = self.turns[0].user if self.turns[0].user is not None else next(earlier, None)
        if isinstance(content, str):
            return content
        return " ".join(text(mapping(part).get("text")) or "" for part in items(content))


def draft_of(record: Record) -> CaseDraft:
    """The draft of a record. Raises UnusableRecord where no case can be made of it."""
    messages = record.messages
    check_depth(list(messages))
    if not any(message["role"] == "user" for message in messages):
        raise UnusableRecord("there is no user message")
    if record.turn_expectations:
        return _asked_turns_draft(record)
    answer = messages[-1] if messages[-1]["role"] == "assistant" else None
    if answer is None and record.expectation is None:
        raise UnusableRecord("there is no answer")
    if answer and not answer.get("tool_calls") and not _content_text(answer).strip():
        raise UnusableRecord("the answer is empty")
    draft = _conversation_draft(record) if answer else None
    draft = draft or _single_answer_draft(record, messages[:-1] if answer else messages, answer)
    names = {tool.name for tool in record.tools}
    unknown = next((each.call.name for each in draft.calls if each.call.name not in names), None)
    if record.tools and unknown is not None:
        raise UnusableRecord(f"the model called {unknown[:60]!r}, which was not offered")
    return draft


def _asked_turns_draft(record: Record) -> CaseDraft:
    """A draft of what the user says, one message after another, with the expectations of the source."""
    system, rest = _split_system(record.messages, "system", "developer")
    if len(rest) != len(record.turn_expectations) or any(message["role"] != "user" for message in rest):
        raise UnusableRecord("the conversation holds more than messages of the user")
    return CaseDraft(record, tuple(DraftTurn(message["content"], ()) for message in rest), system)


def _conversation_draft(record: Record) -> CaseDraft | None:
    """A draft of the whole conversation. None where it has no end, or is more than turns, calls and results."""
    system, rest = _split_system(record.messages, "system", "developer")
    remaining = list(rest)
    turns: list[DraftTurn] = []
    while remaining:
        user = remaining.pop(0)
        own = list(takewhile(lambda message: message["role"] != "user", remaining))
        del remaining[: len(own)]
        steps = _steps(own[:-1]) if own and not own[-1].get("tool_calls") else None
        if user["role"] != "user" or steps is None or own[-1]["role"] != "assistant":
            return None
        _calls_of(own[-1])
        turns.append(DraftTurn(user["content"], steps))
    return CaseDraft(record, tuple(turns), system, answer=_content_text(record.messages[-1]))


def _steps(messages: Sequence[Message]) -> tuple[tuple[DraftCall, ...], ...] | None:
    """The calls of each answer with all their results. None where the messages are anything else."""
    steps: list[tuple[DraftCall, ...]] = []
    groups = [(role, list(group)) for role, group in groupby(messages, key=lambda message: message["role"])]
    for (role, answers), (next_role, results) in zip(groups[::2], groups[1::2], strict=False):
        if role != "assistant" or next_role != "tool" or len(answers) != 1:
            return None
        calls = _calls_of(answers[0])
        matched = _results_of(calls, results)
        if not calls or matched is None:
            return None
        steps.append(tuple(_answered_call(call, result) for call, result in zip(calls, matched, strict=True)))
    return tuple(steps) if len(groups) % 2 == 0 else None


def _results_of(calls: Sequence[Call], results: Sequence[Message]) -> Sequence[Message] | None:
    """The result of each call, by its id, or in order where the ids do not match. None for another number of them."""
    if len(calls) != len(results):
        return None
    by_id = {str(result.get("tool_call_id")): result for result in results}
    matched = [by_id[call.id or ""] for call in calls if (call.id or "") in by_id]
    return matched if len(matched) == len(calls) == len(by_id) else results


def _answered_call(call: Call, result: Message) -> DraftCall:
    """The call with its result. An error is marked, or is `{"error": TEXT}`, as a call that `raises` gives it."""
    content = str(result["content"])
    value = parse_json_text(content)
    if isinstance(value, Mapping) and value.keys() == {"error"} and isinstance(value["error"], str):
        return DraftCall(call, value["error"], is_error=True)
    return DraftCall(call, content, is_error=result.get("is_error") is True)


def _single_answer_draft(record: Record, before: Sequence[Message], answer: Message | None) -> CaseDraft:
    """A draft of the last answer only."""
    calls = tuple(DraftCall(call) for call in _calls_of(answer)) if answer else ()
    steps = (calls,) if calls else ()
    written = _content_text(answer) if answer else ""
    system, rest = _split_system(before, "system")
    if len(rest) == 1 and rest[0]["role"] == "user":
        return CaseDraft(record, (DraftTurn(rest[0]["content"], steps),), system, answer=written)
    earlier = tuple({key: value for key, value in message.items() if key != "is_error"} for message in before)
    return CaseDraft(record, (DraftTurn(None, steps),), earlier_messages=earlier, answer=written)


def _calls_of(message: Message) -> tuple[Call, ...]:
    """The calls of an answer. Raises UnusableRecord where they cannot be read."""
    raw = [mapping(call) for call in items(message.get("tool_calls"))]
    functions = [(mapping(call.get("function")), text(call.get("id"))) for call in raw]
    calls = tuple(RawCall(function.get("name"), function.get("arguments"), id_) for function, id_ in functions)
    decoded = decode(Reply(text=_content_text(message), tool_calls=calls, finish="tool_calls" if calls else "stop"))
    if decoded.malformed is not None:
        raise UnusableRecord(f"the answer cannot be read: {decoded.malformed.rstrip('.')}")
    return decoded.calls


def _split_system(messages: Sequence[Message], *roles: str) -> tuple[str, Sequence[Message]]:
    """The first message, where it is a system message that fits `system:` of a case, and the other messages."""
    if messages and messages[0]["role"] in roles:
        content = messages[0]["content"]
        if isinstance(content, str) and content.strip():
            return content, messages[1:]
    return "", messages


def _content_text(message: Message) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""
