"""Records as drafts of cases: what the user says, what is called, what the calls return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from pytest_fcall.core import Call, Json, Message, RawCall, Reply
from pytest_fcall.decoding import decode
from pytest_fcall.traces.record import Record, UnusableRecord
from pytest_fcall.traces.values import check_depth, items, mapping, text


@dataclass(frozen=True, slots=True)
class DraftCall:
    """A call, and what it gave, where the trace knows that."""

    call: Call
    result: str | None = None


@dataclass(frozen=True, slots=True)
class DraftTurn:
    """What the user says, and the calls that follow, reply by reply."""

    user: Json
    steps: tuple[tuple[DraftCall, ...], ...]


@dataclass(frozen=True, slots=True)
class CaseDraft:
    """A case in the making."""

    record: Record
    turns: tuple[DraftTurn, ...]
    system: str = ""
    before: tuple[Message, ...] = ()
    """All that was said before the one answer that the case is about, where it is no plain prompt."""
    answer: str = ""
    """The last text, for whoever reviews the case."""

    @property
    def is_conversation(self) -> bool:
        """Whether it takes more than one request."""
        return len(self.turns) > 1 or any(made.result is not None for made in self.made)

    @property
    def made(self) -> Iterator[DraftCall]:
        """All calls, in order."""
        return (made for turn in self.turns for step in turn.steps for made in step)

    @property
    def asked(self) -> str:
        """What the user says first, or last where more was said before; as text."""
        earlier = (message["content"] for message in reversed(self.before) if message["role"] == "user")
        said = self.turns[0].user if self.turns[0].user is not None else next(earlier, None)
        if isinstance(said, str):
            return said
        return " ".join(text(mapping(part).get("text")) or "" for part in items(said))


def draft_of(record: Record) -> CaseDraft:
    """Make a case of a record. NotSaid where none can be made."""
    check_depth(list(record.trail))
    trail = record.trail
    if not any(message["role"] == "user" for message in trail):
        raise UnusableRecord("nobody asks anything in it")
    answered = trail[-1]["role"] == "assistant"
    if not answered and record.checks is None:
        raise UnusableRecord("there is no answer in it")
    last = trail[-1] if answered else None
    if last and not last.get("tool_calls") and not _content_text(last).strip():
        raise UnusableRecord("the answer is empty")
    question = _conversation_draft(record) if answered else None
    question = question or _single_answer_draft(record, trail[:-1] if last else trail, last)
    names = {tool.name for tool in record.tools}
    stray = next((made.call.name for made in question.made if made.call.name not in names), None)
    if record.tools and stray is not None:
        raise UnusableRecord(f"the model called {stray[:60]!r}, which it was not offered")
    return question


def calls_of(message: Message) -> tuple[Call, ...]:
    """The calls of an answer. NotSaid where they cannot be read."""
    raw = [mapping(call) for call in items(message.get("tool_calls"))]
    functions = [(mapping(call.get("function")), text(call.get("id"))) for call in raw]
    made = tuple(RawCall(function.get("name"), function.get("arguments"), name) for function, name in functions)
    found = decode(Reply(text=_content_text(message), tool_calls=made, finish="tool_calls" if made else "stop"))
    if found.malformed is not None:
        raise UnusableRecord(f"the answer cannot be read: {found.malformed.rstrip('.')}")
    return found.calls


def _single_answer_draft(record: Record, before: Sequence[Message], last: Message | None) -> CaseDraft:
    """A case about the last answer alone."""
    made = tuple(DraftCall(call) for call in calls_of(last)) if last else ()
    steps = (made,) if made else ()
    answer = _content_text(last) if last else ""
    system, rest = _split_system(before, "system")
    if len(rest) == 1 and rest[0]["role"] == "user":
        return CaseDraft(record, (DraftTurn(rest[0]["content"], steps),), system, answer=answer)
    return CaseDraft(record, (DraftTurn(None, steps),), before=tuple(before), answer=answer)


def _conversation_draft(record: Record) -> CaseDraft | None:
    """A case about all that was said; None where it does not come to an end, or is no plain to and fro."""
    system, said = _split_system(record.trail, "system", "developer")
    turns: list[DraftTurn] = []
    rest = list(said)
    while rest:
        user = rest.pop(0)
        own = list(takewhile(lambda message: message["role"] != "user", rest))
        del rest[: len(own)]
        steps = _steps(own[:-1]) if own and not own[-1].get("tool_calls") else None
        if user["role"] != "user" or steps is None or own[-1]["role"] != "assistant":
            return None
        calls_of(own[-1])
        turns.append(DraftTurn(user["content"], steps))
    return CaseDraft(record, tuple(turns), system, answer=_content_text(record.trail[-1]))


def _steps(messages: Sequence[Message]) -> tuple[tuple[DraftCall, ...], ...] | None:
    """Answers with calls, each with the results of all of them; None where it is anything else."""
    steps: list[tuple[DraftCall, ...]] = []
    groups = [(role, list(group)) for role, group in groupby(messages, key=lambda message: message["role"])]
    for (asking, answers), (giving, results) in zip(groups[::2], groups[1::2], strict=False):
        if asking != "assistant" or giving != "tool" or len(answers) != 1:
            return None
        calls = calls_of(answers[0])
        given = _results_of(calls, results)
        if not calls or given is None:
            return None
        steps.append(tuple(DraftCall(call, result) for call, result in zip(calls, given, strict=True)))
    return tuple(steps) if len(groups) % 2 == 0 else None


def _results_of(calls: Sequence[Call], results: Sequence[Message]) -> list[str] | None:
    """What each call gave: by its id, or in order where the trace keeps none."""
    if len(calls) != len(results):
        return None
    by_id = {str(result.get("tool_call_id")): result for result in results}
    ordered = [by_id.get(call.id or "") for call in calls]
    found = [result for result in ordered if result is not None]
    found = found if len(found) == len(calls) == len(by_id) else list(results)
    return [str(result["content"]) for result in found]


def _split_system(trail: Sequence[Message], *roles: str) -> tuple[str, Sequence[Message]]:
    """The one system message that a case can say apart from the rest, and the rest."""
    if trail and trail[0]["role"] in roles and isinstance(trail[0]["content"], str) and trail[0]["content"].strip():
        return trail[0]["content"], trail[1:]
    return "", trail


def _content_text(message: Message) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""
