"""Cases of data sets of other tools: questions, and what is expected of the answers.

An expectation may ask for more than its source did, never for less. What has no form in a case is named, and the case
is then written with a reason to skip it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pytest_fcall.cases.yaml.values import mark_literal
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.traces.record import Record, SkippedEntry, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of
from pytest_fcall.traces.values import PlacedMapping, first_field, items, mapping, parse_json_text, text

ANY_ARGUMENTS: Final[Json] = {"$ignore": True}
_LONGEST_SKIP: Final = 300
_QUESTIONS: Final = (
    "question",
    "query",
    "input",
    "prompt",
    "user_input",
    "user_query",
    "user_message",
    "message",
    "text",
    "instruction",
    "request",
)
"""Fields that hold what the user says."""
_NAMES: Final = ("name", "tool", "tool_name")
_ARGUMENTS: Final = ("arguments", "args", "input_parameters", "inputParameters", "tool_input", "input", "parameters")


class RequiredCall(NamedTuple):
    """A call that must be made."""

    tool: str
    arguments: Mapping[str, Json] | None = None
    """None for any arguments."""
    least: int | None = None
    """At least so many such calls must be made; None for exactly one."""
    is_open: bool = False
    """Whether arguments that are not named are free."""

    def entry(self) -> dict[str, Json]:
        """The call as a case file has it."""
        entry: dict[str, Json] = {
            self.tool: ANY_ARGUMENTS if self.arguments is None else mark_literal(dict(self.arguments))
        }
        if self.is_open:
            entry["args"] = "open"
        if self.least is not None:
            entry["times"] = [self.least, None]
        return entry


@dataclass(slots=True)
class ExpectedAnswer:
    """The expectation of the answer to one message of the user."""

    calls: Sequence[RequiredCall] | None = None
    """None where nothing is said about calls."""
    in_order: bool = False
    others: bool = False
    """Whether further calls do no harm."""
    never: list[str] = field(default_factory=list)
    """Tools that must not be called."""
    answers: list[Json] = field(default_factory=list)
    """Expected values that the text of the answer must all meet."""

    def keys(self) -> dict[str, Json]:
        """The keys of the case or the turn."""
        keys: dict[str, Json] = {}
        if expect := self._expect():
            keys["expect"] = expect
        if self.answers:
            keys["answer"] = self.answers[0] if len(self.answers) == 1 else {"$all": self.answers}
        return keys

    def _expect(self) -> Json:
        if self.calls is not None and not self.calls and not self.others:
            return "no_call"
        expect: dict[str, Json] = {}
        if self.calls:
            expect["calls"] = [call.entry() for call in self.calls]
            if self.in_order and len(self.calls) > 1:
                expect["order"] = "strict"
            if self.others:
                expect["extra"] = "allow"
        if self.never:
            expect["never"] = list(dict.fromkeys(self.never))
        return expect["calls"] if expect.keys() == {"calls"} else expect

    @property
    def named_tools(self) -> Iterator[str]:
        """The tools that it names."""
        yield from (call.tool for call in self.calls or ())
        yield from self.never


class Unmapped(NamedTuple):
    """Something that a source expects, and no case can hold."""

    place: str
    reason: str


@dataclass(slots=True)
class DatasetCase:
    """A case of a data set."""

    place: str
    messages: tuple[Message, ...] = ()
    expected: list[ExpectedAnswer] = field(default_factory=list)
    """One for each message of the user where there are several to answer; else one."""
    tools: tuple[Tool, ...] = ()
    case_id: str = ""
    unmapped: list[Unmapped] = field(default_factory=list)

    def leave_out(self, reason: str, of: Json = None) -> None:
        """Note that something has no form in a case; `of` is the part of the source that it stands in."""
        self.unmapped.append(Unmapped(place_of(of, self.place), reason))

    def entries(self, source: str) -> Iterator[Record | SkippedEntry]:
        """Its record, and what it leaves out of the source, which is called `source`."""
        for each in self.unmapped:
            yield SkippedEntry(each.place, f"no case can hold {each.reason}")
        keys = [each.keys() for each in self.expected]
        reasons = ", ".join(dict.fromkeys(each.reason for each in self.unmapped))
        skip = f"write what is still to be expected, then take this line away; {source} has {reasons}"
        yield Record(
            self.messages,
            self.place,
            self.tools,
            case_id=self.case_id,
            expectation=keys[0] if keys else {},
            turn_expectations=tuple(keys) if len(keys) > 1 else (),
            named_tools=() if self.tools else tuple(name for each in self.expected for name in each.named_tools),
            skip=skip[:_LONGEST_SKIP] if reasons else "",
        )


def place_of(data: Json, otherwise: str) -> str:
    """The file and line of a part of a YAML document, where they are known."""
    return data.place if isinstance(data, PlacedMapping) and data.place else otherwise


def user_message(content: Json) -> Message:
    """The message of the user. Raises UnusableRecord where it is no text, or empty."""
    if not isinstance(content, str) or not content.strip():
        raise UnusableRecord("what the user says is empty, or no text")
    return {"role": "user", "content": content}


class UserInput(NamedTuple):
    """The text of the user, and the other fields of the input that hold it."""

    messages: tuple[Message, ...]
    further: tuple[str, ...] = ()


def question_of(data: Json) -> UserInput:
    """The question in an input, which is a text, messages, or fields. Raises UnusableRecord where it is not known."""
    if isinstance(data, str):
        return UserInput((user_message(data),))
    if isinstance(data, list):
        return UserInput(_question_messages(data))
    fields = mapping(data)
    if isinstance(messages := fields.get("messages"), list):
        return UserInput(_question_messages(messages), _others(fields, "messages"))
    named = [name for name in (_QUESTIONS if len(fields) > 1 else fields) if isinstance(fields.get(name), str)]
    if len(named) != 1:
        shown = ", ".join(list(fields)[:5]) or "nothing"
        raise UnusableRecord(f"the input has {shown}, and what of it the user says is not known")
    return UserInput(question_of(fields[named[0]]).messages, _others(fields, named[0]))


def _others(fields: Mapping[str, Json], name: str) -> tuple[str, ...]:
    return tuple(key for key, value in fields.items() if key != name and value not in (None, "", [], {}))


def _question_messages(data: Sequence[Json]) -> tuple[Message, ...]:
    messages = messages_of(data)
    if not messages or messages[-1]["role"] == "assistant":
        raise UnusableRecord("the question does not end with what the user says")
    return messages


def calls_in(data: Json) -> list[RequiredCall] | None:
    """The calls in a value: a call, a list of them, or messages with calls; None where it holds something else.

    Raises UnusableRecord for arguments that cannot be read.
    """
    value = parse_json_text(data)
    if isinstance(value, Mapping):
        if isinstance(value.get("messages"), list):
            return calls_in(value["messages"])
        if value.get("tool_calls") or value.get("function_call"):
            return calls_in(first_field(value, "tool_calls", "function_call"))
        return [_expected_call(value)] if _is_call(value) else None
    if not isinstance(value, list) or not value:
        return None
    if all(_is_call(each) for each in value):
        return [_expected_call(mapping(each)) for each in value]
    if all(isinstance(each, Mapping) and "role" in each for each in value):
        inside = [calls_in(each) for each in value if mapping(each)["role"] in ("assistant", "ai")]
        found = [call for calls in inside for call in calls or ()]
        return found or None
    return None


def _is_call(value: Json) -> bool:
    data = mapping(value)
    inner = mapping(data.get("function")) or data
    return (
        isinstance(first_field(inner, *_NAMES), str) and any(key in inner for key in _ARGUMENTS) and "role" not in data
    )


def _expected_call(data: Mapping[str, Json]) -> RequiredCall:
    inner = mapping(data.get("function")) or data
    key = next(key for key in _ARGUMENTS if key in inner)
    return RequiredCall(str(first_field(inner, *_NAMES)), arguments_of(inner[key]))


def arguments_of(data: Json) -> Mapping[str, Json] | None:
    """The arguments of an expected call; None where the source does not say any. Raises UnusableRecord."""
    value = parse_json_text(data)
    if value is None or isinstance(value, Mapping):
        return value
    if value == "":
        return {}
    raise UnusableRecord("the arguments of an expected call are no object")


def contains(part: str, *, exactly: bool) -> Json:
    """An expected text that holds a part, in the same letters or in whatever case."""
    return {"$contains": part} if exactly else {"$regex": f"(?is).*{re.escape(part)}.*"}


def literal(value: str) -> Json:
    """An expected text that is exactly this one."""
    return mark_literal(value)


def case_name(data: Mapping[str, Json], *names: str) -> str:
    """The first of these fields that is a text, as the id of a case."""
    return next((name for field in names if (name := text(data.get(field)))), "")


def expect_value(case: DatasetCase, value: Json, name: str) -> None:
    """Expect what a data set gives as the right output, of which it does not say how it is compared.

    Calls are these calls, and a text is this text: no way to compare asks for more.
    """
    value = parse_json_text(value)
    if value in (None, "", {}, []):
        case.expected = [ExpectedAnswer()]
        return
    calls = calls_in(value)
    if calls is not None:
        case.expected = [ExpectedAnswer(calls, in_order=True)]
        if _has_text(value):
            case.leave_out(f"the text of `{name}` beside its calls")
    elif (written := _only_text(value)) is not None:
        case.expected = [ExpectedAnswer(answers=[literal(written)])]
    else:
        case.expected = [ExpectedAnswer()]
        case.leave_out(f"`{name}`, which is neither calls nor a text")


def _has_text(value: Json) -> bool:
    """Whether some message has a text."""
    messages = mapping(value).get("messages", value)
    return any(
        isinstance(mapping(each).get("content"), str) and bool(mapping(each)["content"])
        for each in items(messages)
        if mapping(each).get("role") not in ("user", "human", "system", "tool")
    )


def _only_text(value: Json) -> str | None:
    """The text, or the one field of a mapping that holds a text; None where there is more."""
    if isinstance(value, str):
        return value
    fields = mapping(value)
    found = list(fields.values())
    return found[0] if len(found) == 1 and isinstance(found[0], str) and found[0] else None
