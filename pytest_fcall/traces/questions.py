"""Records as cases: what is said, what is called, what calls give back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from pytest_fcall.core import Call, Json, Message, RawCall, Reply
from pytest_fcall.decoding import decode
from pytest_fcall.traces.record import NotSaid, Record
from pytest_fcall.traces.values import check_depth, items, mapping, text


@dataclass(frozen=True, slots=True)
class Made:
    """A call, and what it gave, where the trace knows that."""

    call: Call
    result: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user says, and the calls that follow, reply by reply."""

    user: Json
    steps: tuple[tuple[Made, ...], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A case in the making."""

    record: Record
    turns: tuple[Turn, ...]
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
    def made(self) -> Iterator[Made]:
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


def question_of(record: Record) -> Question:
    """Make a case of a record. NotSaid where none can be made."""
    check_depth(list(record.trail))
    trail = record.trail
    if not any(message["role"] == "user" for message in trail):
        raise NotSaid("nobody asks anything in it")
    answered = trail[-1]["role"] == "assistant"
    if not answered and record.checks is None:
        raise NotSaid("there is no answer in it")
    last = trail[-1] if answered else None
    if last and not last.get("tool_calls") and not _text(last).strip():
        raise NotSaid("the answer is empty")
    question = _conversation(record) if answered else None
    question = question or _one_answer(record, trail[:-1] if last else trail, last)
    names = {tool.name for tool in record.tools}
    stray = next((made.call.name for made in question.made if made.call.name not in names), None)
    if record.tools and stray is not None:
        raise NotSaid(f"the model called {stray[:60]!r}, which it was not offered")
    return question


def calls_of(message: Message) -> tuple[Call, ...]:
    """The calls of an answer. NotSaid where they cannot be read."""
    raw = [mapping(call) for call in items(message.get("tool_calls"))]
    functions = [(mapping(call.get("function")), text(call.get("id"))) for call in raw]
    made = tuple(RawCall(function.get("name"), function.get("arguments"), name) for function, name in functions)
    found = decode(Reply(text=_text(message), tool_calls=made, finish="tool_calls" if made else "stop"))
    if found.malformed is not None:
        raise NotSaid(f"the answer cannot be read: {found.malformed.rstrip('.')}")
    return found.calls


def _one_answer(record: Record, before: Sequence[Message], last: Message | None) -> Question:
    """A case about the last answer alone."""
    made = tuple(Made(call) for call in calls_of(last)) if last else ()
    steps = (made,) if made else ()
    answer = _text(last) if last else ""
    system, rest = _system(before, "system")
    if len(rest) == 1 and rest[0]["role"] == "user":
        return Question(record, (Turn(rest[0]["content"], steps),), system, answer=answer)
    return Question(record, (Turn(None, steps),), before=tuple(before), answer=answer)


def _conversation(record: Record) -> Question | None:
    """A case about all that was said; None where it does not come to an end, or is no plain to and fro."""
    system, said = _system(record.trail, "system", "developer")
    turns: list[Turn] = []
    rest = list(said)
    while rest:
        user = rest.pop(0)
        own = list(takewhile(lambda message: message["role"] != "user", rest))
        del rest[: len(own)]
        steps = _steps(own[:-1]) if own and not own[-1].get("tool_calls") else None
        if user["role"] != "user" or steps is None or own[-1]["role"] != "assistant":
            return None
        calls_of(own[-1])
        turns.append(Turn(user["content"], steps))
    return Question(record, tuple(turns), system, answer=_text(record.trail[-1]))


def _steps(messages: Sequence[Message]) -> tuple[tuple[Made, ...], ...] | None:
    """Answers with calls, each with the results of all of them; None where it is anything else."""
    steps: list[tuple[Made, ...]] = []
    groups = [(role, list(group)) for role, group in groupby(messages, key=lambda message: message["role"])]
    for (asking, answers), (giving, results) in zip(groups[::2], groups[1::2], strict=False):
        if asking != "assistant" or giving != "tool" or len(answers) != 1:
            return None
        calls = calls_of(answers[0])
        given = _given(calls, results)
        if not calls or given is None:
            return None
        steps.append(tuple(Made(call, result) for call, result in zip(calls, given, strict=True)))
    return tuple(steps) if len(groups) % 2 == 0 else None


def _given(calls: Sequence[Call], results: Sequence[Message]) -> list[str] | None:
    """What each call gave: by its id, or in order where the trace keeps none."""
    if len(calls) != len(results):
        return None
    by_id = {str(result.get("tool_call_id")): result for result in results}
    ordered = [by_id.get(call.id or "") for call in calls]
    found = [result for result in ordered if result is not None]
    found = found if len(found) == len(calls) == len(by_id) else list(results)
    return [str(result["content"]) for result in found]


def _system(trail: Sequence[Message], *roles: str) -> tuple[str, Sequence[Message]]:
    """The one system message that a case can say apart from the rest, and the rest."""
    if trail and trail[0]["role"] in roles and isinstance(trail[0]["content"], str) and trail[0]["content"].strip():
        return trail[0]["content"], trail[1:]
    return "", trail


def _text(message: Message) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""
