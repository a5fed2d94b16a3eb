"""A failing case as text: in at most twelve lines, or in full."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from pytest_fcall.core.case import Case, Turn
from pytest_fcall.core.expectation import Expectation, chosen_alternative
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.values import Message
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.reporting.call_pairs import (
    CallPair,
    WrongPlace,
    argument_names,
    argument_texts,
    call_index,
    pair_calls,
    wrong_places,
)
from pytest_fcall.reporting.faults import location_text
from pytest_fcall.reporting.safe_text import safe, safe_line
from pytest_fcall.reporting.side_by_side import ComparisonRow, side_by_side, visibly_different
from pytest_fcall.reporting.terminal import UNICODE, Marks, cut_middle, titled_blocks
from pytest_fcall.reporting.transcript import content_text
from pytest_fcall.reporting.value_text import arguments_text, call_text, value_text

_MAX_LINES = 12
_MAX_REASON_LINES = 3
"""Lines for reasons; if there are more, the last line gives their number."""

_SIDE_TITLES = ("expected", "called")
_MAX_TEXT = 20_000
"""The longest text that is shown in full, in characters."""


class Failure(NamedTuple):
    """A failing case, what the model answered, and the lines that stand beside it."""

    case: Case
    calls: Calls
    verdict: Verdict
    reply: Reply
    model: str | None = None
    conversation_lines: Sequence[str] = ()
    """Earlier messages and calls of a conversation."""
    baseline_lines: Sequence[str] = ()
    """Changes against the baseline."""


def failure_text(failure: Failure, width: int = 100, marks: Marks = UNICODE) -> str:
    """The failure in at most twelve lines of `width` columns.

    It has the reasons, the place of the case, the last user message, expected calls beside those made, and the changes
    against the baseline. The first line is never cut to the width, as pytest's short summary repeats it.
    """
    case, calls, verdict, reply, model, conversation_lines, baseline_lines = failure
    reasons = _reason_lines(verdict.reasons, marks, several=len(calls.calls) > 1)
    top = [f"  {location_text(case.location)}asked{f' {safe_line(model)}' if model else ''}: {_last_user_text(case)}"]
    top += conversation_lines
    bottom = [*_text_without_calls(calls, reply), *reasons[1:], *(f"  {safe_line(line)}" for line in baseline_lines)]
    expectation = chosen_alternative(_last_expectation(case), verdict.alternative)
    pairs = [] if _too_many(calls, verdict) else pair_calls(expectation, calls.calls, verdict)
    middle = _comparison_lines(pairs, _MAX_LINES - 1 - len(top) - len(bottom), width, marks)
    shown = (cut_middle(line, width, marks.cut) for line in (*top, *middle, *bottom))
    return "\n".join([_headline(case, verdict, reasons), *shown])


def _headline(case: Case, verdict: Verdict, reasons: Sequence[str]) -> str:
    """The first reason, and what kind of verdict it is."""
    headline = reasons[0].strip() if reasons else safe_line(case.id)
    if verdict.error_type:
        rules = case.suite if case.rules.profile == "original" else "bfcl"
        headline = f"{headline} ({safe_line(rules)}: {safe_line(verdict.error_type)})"
    return f"{headline} (judged)" if verdict.judged else headline


def full_failure_text(failure: Failure, marks: Marks = UNICODE) -> str:
    """The failure in full: messages, all calls and reasons, notes, the text of the reply, and its figures.

    It begins with the same line as in brief.
    """
    case, calls, verdict, reply, model, conversation_lines, baseline_lines = failure
    pairs = pair_calls(chosen_alternative(_last_expectation(case), verdict.alternative), calls.calls, verdict)
    blocks = (
        ("asked", [line for message in _judged_turn(case).messages for line in _message_lines(message)]),
        ("so far", [line.removeprefix("  ") for line in conversation_lines]),
        ("expected and called", [line for pair in pairs for line in _pair_lines(pair, marks)]),
        ("reasons", [line for reason in verdict.reasons for line in _full_reason_lines(reason)]),
        ("baseline", [safe_line(line) for line in baseline_lines]),
        ("official error", [safe_line(verdict.error_type)] if verdict.error_type else []),
        ("raw calls", [f"{value_text(raw.name)} {value_text(raw.arguments, _MAX_TEXT)}" for raw in reply.tool_calls]),
        ("refusal", safe(reply.refusal or "", _MAX_TEXT).splitlines()),
        ("text", safe(reply.text, _MAX_TEXT).splitlines()),
        ("notes", [safe_line(note) for note in dict.fromkeys((*calls.notes, *verdict.notes))]),
        ("reply", [_reply_line(reply)]),
    )
    headline = _headline(case, verdict, _reason_lines(verdict.reasons, marks, several=len(calls.calls) > 1))
    heading = f"  {_case_heading(case, model)}"
    return "\n".join([headline, heading, *titled_blocks(blocks)])


def _case_heading(case: Case, model: str | None) -> str:
    """The place, id and model of a case: `cases/weather.fc.yaml:14 celsius (openai:gpt-5.2)`."""
    line = f"{location_text(case.location)}{safe_line(case.id)}"
    return f"{line} ({safe_line(model)})" if model else line


def _judged_turn(case: Case) -> Turn:
    """The last turn with an expectation, else the last one."""
    return next((turn for turn in reversed(case.turns) if turn.expect is not None), (Turn(()), *case.turns)[-1])


def _last_expectation(case: Case) -> Expectation:
    """The expectation of the judged turn."""
    return _judged_turn(case).expect or Expectation(kind="any_call")


def _last_user_text(case: Case) -> str:
    """The last user message before the verdict, on one line."""
    messages = _judged_turn(case).messages
    from_user = [message for message in messages if message.get("role") == "user"] or messages[-1:]
    return safe_line(content_text(from_user[-1].get("content"))) if from_user else "(nothing)"


def _pair_row(pair: CallPair, marks: Marks) -> ComparisonRow:
    """Both calls in one row."""
    mark = marks.wrong if pair.has_wrong_call else marks.right
    return ComparisonRow(mark, safe_line(pair.name), _expected(pair), _called(pair))


def _brief_rows(pair: CallPair, marks: Marks) -> Iterator[ComparisonRow]:
    """Both calls in one row, and a row for each wrong place in the arguments."""
    yield _pair_row(pair, marks)
    for spot in _wrong_places(pair):
        yield _wrong_row(spot, pair, marks)


def _argument_rows(pair: CallPair, marks: Marks) -> Iterator[ComparisonRow]:
    """A row for each argument, wrong ones first; one row for a pair without wrong arguments."""
    wrong = _wrong_places(pair)
    if not any(spot.argument for spot in wrong):
        yield from _brief_rows(pair, marks)
        return
    yield ComparisonRow(marks.wrong, safe_line(pair.name))
    for spot in wrong:
        yield _wrong_row(spot, pair, marks)
    wrong_arguments = {spot.argument for spot in wrong}
    for name in argument_names(pair):
        if name not in wrong_arguments:
            yield _other_row(name, pair, marks.right if pair.has_all_reasons else " ")


def _wrong_places(pair: CallPair) -> list[WrongPlace]:
    """The wrong places in the arguments; none if the tools differ, as their arguments cannot be compared."""
    same_tool = pair.expected is not None and pair.called is not None and pair.expected.tool == pair.called.name
    return wrong_places(pair) if same_tool else []


def _wrong_row(spot: WrongPlace, pair: CallPair, marks: Marks) -> ComparisonRow:
    wanted = spot.value_in(_patterns(pair), spot.reason.expected)
    is_known = isinstance(wanted, Operator) and wanted.name == "from" and not isinstance(spot.reason.expected, Operator)
    expected = value_text(spot.reason.expected if is_known else wanted)
    got = value_text(spot.value_in(_values(pair), spot.reason.got))
    if spot.reason.kind == "missing_argument":
        got = "(left out)"
    elif spot.reason.kind == "unexpected_argument":
        expected = "(not expected)"
    return ComparisonRow(marks.wrong, f"  {safe_line(spot.path)}", *visibly_different(expected, got))


def _other_row(name: str, pair: CallPair, mark: str) -> ComparisonRow:
    return ComparisonRow(mark, f"  {safe_line(name)}", *argument_texts(pair, name))


def _expected(pair: CallPair) -> str:
    if pair.expected is None:
        return "(not expected)" if pair.is_wrong else pair.allowed_text
    if pair.expected.arguments is None:
        return "(any arguments)"
    return arguments_text(pair.expected.arguments) or "(no arguments)"


def _called(pair: CallPair) -> str:
    if pair.called is None:
        return pair.not_called_text
    arguments = arguments_text(pair.called.arguments) or "(no arguments)"
    if pair.called.name == pair.name:
        return arguments
    return f"{safe_line(pair.called.name)}: {arguments}"


def _patterns(pair: CallPair) -> Mapping[str, Pattern]:
    return (pair.expected.arguments if pair.expected else None) or {}


def _values(pair: CallPair) -> Mapping[str, object]:
    return pair.called.arguments if pair.called else {}


def _too_many(calls: Calls, verdict: Verdict) -> bool:
    """Whether there were so many calls that they were not compared."""
    made = len(calls.calls)
    return any((reason.kind, reason.path, reason.got) == ("wrong_count", "calls", made) for reason in verdict.reasons)


def _comparison_lines(pairs: Sequence[CallPair], room: int, width: int, marks: Marks) -> list[str]:
    """The most detailed layout that fits into `room` lines, or as much of the shortest one as fits."""
    if not pairs:
        return []
    right = sum(not pair.is_wrong for pair in pairs)
    first = [pair for pair in pairs if pair.is_wrong] or pairs
    folded = [f"  {marks.right} {right} more as expected"] if right else []
    layouts: list[tuple[Iterator[ComparisonRow], list[str]]] = [
        (_all_rows(_argument_rows, pairs, marks), []),
        (_all_rows(_argument_rows, first, marks), folded),
        (_all_rows(_brief_rows, first, marks), folded),
    ]
    for lazy, more in layouts:
        rows = list(islice(lazy, room - len(more)))
        if len(rows) + len(more) < room:
            return [*side_by_side(_SIDE_TITLES, rows, width, marks), *more]
    rest = f"  {marks.cut} more with -vv; {right} of {len(pairs)} calls are as expected"
    return [*side_by_side(_SIDE_TITLES, rows[: room - 2], width, marks), rest]


def _all_rows(
    make: Callable[[CallPair, Marks], Iterator[ComparisonRow]], pairs: Sequence[CallPair], marks: Marks
) -> Iterator[ComparisonRow]:
    return chain.from_iterable(make(pair, marks) for pair in pairs)


def _text_without_calls(calls: Calls, reply: Reply) -> list[str]:
    """The raw call, refusal or text of a reply without calls."""
    if calls.calls:
        return []
    if calls.malformed and reply.tool_calls:
        raw = reply.tool_calls[0]
        return [f"  raw call: {value_text(raw.name)} {value_text(raw.arguments)}"]
    if reply.refusal:
        return [f"  refusal: {value_text(reply.refusal)}"]
    return [f"  text: {value_text(reply.text)}"]


def _reason_lines(reasons: Sequence[Reason], marks: Marks, several: bool) -> list[str]:
    kept = len(reasons) if len(reasons) <= _MAX_REASON_LINES else _MAX_REASON_LINES - 1
    lines = [f"  {reason.kind}{_in_call(reason, several)}: {safe_line(reason.message)}" for reason in reasons[:kept]]
    return lines if kept == len(reasons) else [*lines, f"  {marks.cut} and {len(reasons) - kept} more (-vv)"]


def _in_call(reason: Reason, several: bool) -> str:
    """The call that the reason is about, if there are several."""
    index = call_index(reason) if several else None
    return "" if index is None else f" in calls[{index}]"


def _message_lines(message: Message) -> list[str]:
    first, *rest = safe(content_text(message.get("content")), _MAX_TEXT).split("\n")
    return [f"{safe_line(str(message.get('role')))}: {first}", *(f"  {line}" for line in rest)]


def _pair_lines(pair: CallPair, marks: Marks) -> Iterator[str]:
    mark = marks.wrong if pair.has_wrong_call else marks.right
    if pair.expected is not None:
        patterns = pair.expected.arguments
        arguments = "any arguments" if patterns is None else arguments_text(patterns, _MAX_TEXT)
        yield f"{mark} expected {safe_line(pair.expected.tool)}({arguments})" + (
            f" {pair.not_called_text}" if pair.lacks_sound_result else ""
        )
    if pair.called is not None:
        yield f"{mark} called   {call_text(pair.called, _MAX_TEXT)}" + (
            f" {pair.allowed_text}" if pair.lacks_sound_result else ""
        )


def _full_reason_lines(reason: Reason) -> Iterator[str]:
    yield f"{reason.kind} at {safe_line(reason.path)}: {safe_line(reason.message)}"
    if reason.expected is not None:
        yield f"  expected {value_text(reason.expected, _MAX_TEXT)}"
    if reason.got is not None:
        yield f"  got      {value_text(reason.got, _MAX_TEXT)}"


def _reply_line(reply: Reply) -> str:
    usage = reply.usage
    figures = {
        "model": reply.engine.get("model"),
        "seconds": reply.seconds and round(reply.seconds, 3),
        "input tokens": usage and usage.input_tokens,
        "output tokens": usage and usage.output_tokens,
    }
    known = [f"{name} {value_text(figure)}" for name, figure in figures.items() if figure is not None]
    return ", ".join([f"finish {reply.finish}", *known])
