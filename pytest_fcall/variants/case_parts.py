"""The parts of a case that relations change: what users say, the tools, the expectations."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fcall.core.case import Case
from pytest_fcall.core.expectation import CallPattern, Expectation, ExpectedCall
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.core.variants import Unfit

TextChange = Callable[[str], str]


def is_system(message: Message) -> bool:
    """Whether a message is the developer's, and not the user's or the model's."""
    return message.get("role") in ("system", "developer")


def user_texts(case: Case) -> Iterator[str]:
    """All that the user says, piece by piece."""
    for turn in case.turns:
        for message in turn.messages:
            if message.get("role") == "user":
                yield from texts_of(message.get("content"))


def texts_of(content: Json) -> Iterator[str]:
    """The texts in the content of a message."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Sequence):
        for part in content:
            if isinstance(part, str):
                yield part
            elif isinstance(part, Mapping) and isinstance(text := part.get("text"), str):
                yield text


def with_texts(content: Json, change: TextChange) -> Json:
    """The content of a message with its texts changed."""
    if isinstance(content, str):
        return change(content)
    if not isinstance(content, Sequence):
        return content
    return [_changed_part(part, change) for part in content]


def _changed_part(part: Json, change: TextChange) -> Json:
    if isinstance(part, str):
        return change(part)
    if isinstance(part, Mapping) and isinstance(text := part.get("text"), str):
        return {**part, "text": change(text)}
    return part


def with_user_texts(case: Case, change: TextChange) -> Case:
    """The case with all that the user says changed."""

    def changed(message: Message) -> Message:
        if message.get("role") != "user" or "content" not in message:
            return message
        return {**message, "content": with_texts(message["content"], change)}

    return with_messages(case, changed)


def with_messages(case: Case, change: Callable[[Message], Message]) -> Case:
    """The case with each of its messages changed."""
    return replace(
        case,
        turns=tuple(replace(turn, messages=tuple(map(change, turn.messages))) for turn in case.turns),
        undated=None,
    )


def with_tools(case: Case, change: Callable[[tuple[Tool, ...]], tuple[Tool, ...]]) -> Case:
    """The case with each of its sets of tools changed: those of the case, and those of single turns."""
    turns = tuple(turn if turn.tools is None else replace(turn, tools=change(turn.tools)) for turn in case.turns)
    return replace(case, tools=change(case.tools), turns=turns, undated=None)


def all_tools(case: Case) -> dict[str, Tool]:
    """Every tool that the case offers at any time, by name."""
    tools = [*case.tools, *(tool for turn in case.turns for tool in turn.tools or ())]
    return {tool.name: tool for tool in tools}


def with_calls(
    expectation: Expectation,
    change: Callable[[ExpectedCall], ExpectedCall],
    pattern: Callable[[CallPattern], Sequence[CallPattern]],
) -> Expectation:
    """An expectation with its calls changed, and each allowed or forbidden one replaced by others."""
    return replace(
        expectation,
        stages=tuple(tuple(map(change, stage)) for stage in expectation.stages),
        allow=tuple(new for each in expectation.allow for new in pattern(each)),
        never=tuple(new for each in expectation.never for new in pattern(each)),
        alternatives=tuple(with_calls(each, change, pattern) for each in expectation.alternatives),
    )


def with_operators(pattern: Pattern, change: Callable[[Operator], Operator]) -> Pattern:
    """A pattern with each operator in it changed, at any depth, except those in `$literal`."""
    if isinstance(pattern, Operator):
        if pattern.name == "literal":
            return pattern
        options = {name: with_operators(value, change) for name, value in pattern.options.items()}
        return change(replace(pattern, operand=with_operators(pattern.operand, change), options=options))
    if isinstance(pattern, Mapping):
        return {name: with_operators(value, change) for name, value in pattern.items()}
    if isinstance(pattern, list | tuple):
        return [with_operators(item, change) for item in pattern]
    return pattern


def expected_values(case: Case, left_out: Container[str] = ()) -> Iterator[Json]:
    """Every plain value in what the case expects, allows or forbids, at any depth.

    Values inside operators of the names in `left_out` are no part of them.
    """
    patterns: list[Pattern] = [rule.operator for rule in case.rules.match]
    patterns += [each.arguments for each in case.rules.never]
    for turn in case.turns:
        patterns += [turn.answer, turn.state, turn.result]
        for each in _with_alternatives(turn.expect):
            patterns += [call.arguments for call in (*each.calls, *each.allow, *each.never)]
            patterns += [call.result for call in each.calls]
    while patterns:
        pattern = patterns.pop()
        if isinstance(pattern, Operator):
            patterns += () if pattern.name in left_out else (pattern.operand, *pattern.options.values())
        elif isinstance(pattern, Mapping):
            patterns += pattern.values()
        elif isinstance(pattern, Sequence) and not isinstance(pattern, str):
            patterns += pattern
        elif pattern is not None:
            yield pattern


def _with_alternatives(expectation: Expectation | None) -> Iterator[Expectation]:
    if expectation is not None:
        yield expectation
        for each in expectation.alternatives:
            yield from _with_alternatives(each)


def hidden_expectation(case: Case) -> Unfit | None:
    """The reason why a right answer to the case cannot be told here; None where its expectation says all."""
    if case.judge is not None or case.conversation_judge is not None:
        return Unfit("the judge of its suite alone knows what is right")
    if case.rules.profile != "strict":
        return Unfit(f"it is judged by the profile {case.rules.profile}")
    return None
