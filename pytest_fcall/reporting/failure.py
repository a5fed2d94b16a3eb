"""A failing case in at most twelve lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from pytest_fcall.core import Calls, Case, Reason, Reply, Verdict
from pytest_fcall.core.expectation import chosen
from pytest_fcall.reporting.columns import shorten
from pytest_fcall.reporting.marks import UNICODE, Marks
from pytest_fcall.reporting.pairing import Pair, call_index, paired
from pytest_fcall.reporting.question import asked, expectation_of, place_text
from pytest_fcall.reporting.rows import argument_rows, brief_rows
from pytest_fcall.reporting.safe import safe_line
from pytest_fcall.reporting.sides import Row, side_by_side
from pytest_fcall.reporting.values import shown

_LINES = 12
_REASONS = 3
"""As many lines go to reasons; where there are more, the last of them says so."""

_TITLES = ("expected", "called")


def failure_text(
    case: Case,
    calls: Calls,
    verdict: Verdict,
    reply: Reply,
    model: str | None = None,
    *,
    story: Sequence[str] = (),
    since: Sequence[str] = (),
    width: int = 100,
    marks: Marks = UNICODE,
) -> str:
    """Say what is wrong, where the case stands, what was asked, what was expected and called, and what changed `since`.

    `story` is what went before in a conversation.
    At most twelve lines of `width` columns; `full_failure_text` leaves nothing out. The first line, which pytest's
    short summary repeats, is never cut for want of width.
    """
    reasons = _reasons(verdict.reasons, marks, several=len(calls.calls) > 1)
    headline = reasons[0].strip() if reasons else safe_line(case.id)
    if verdict.error_type:
        headline = f"{headline} (bfcl: {safe_line(verdict.error_type)})"
    if verdict.judged:
        headline = f"{headline} (judged)"
    top = [f"  {place_text(case.location)}asked{f' {safe_line(model)}' if model else ''}: {asked(case)}"]
    top += story
    bottom = [*_instead(calls, reply), *reasons[1:], *(f"  {safe_line(line)}" for line in since)]
    expectation = chosen(expectation_of(case), verdict.alternative)
    pairs = [] if _too_many(calls, verdict) else paired(expectation, calls.calls, verdict)
    middle = _comparison(pairs, _LINES - 1 - len(top) - len(bottom), width, marks)
    return "\n".join([headline, *(shorten(line, width, marks.cut) for line in (*top, *middle, *bottom))])


def _too_many(calls: Calls, verdict: Verdict) -> bool:
    """Whether there were so many calls that nobody looked at each."""
    made = len(calls.calls)
    return any((reason.kind, reason.path, reason.got) == ("wrong_count", "calls", made) for reason in verdict.reasons)


def _comparison(pairs: Sequence[Pair], room: int, width: int, marks: Marks) -> list[str]:
    """The fullest layout that fits into `room` lines; of the tersest, as much as fits."""
    if not pairs:
        return []
    right = sum(not pair.wrong for pair in pairs)
    first = [pair for pair in pairs if pair.wrong] or pairs
    folded = [f"  {marks.right} {right} more as expected"] if right else []
    layouts: list[tuple[Iterator[Row], list[str]]] = [
        (_rows(argument_rows, pairs, marks), []),
        (_rows(argument_rows, first, marks), folded),
        (_rows(brief_rows, first, marks), folded),
    ]
    for lazy, more in layouts:
        rows = list(islice(lazy, room - len(more)))
        if len(rows) + len(more) < room:
            return [*side_by_side(_TITLES, rows, width, marks), *more]
    rest = f"  {marks.cut} and more (-vv): {right} of {len(pairs)} calls are as expected"
    return [*side_by_side(_TITLES, rows[: room - 2], width, marks), rest]


def _rows(make: Callable[[Pair, Marks], Iterator[Row]], pairs: Sequence[Pair], marks: Marks) -> Iterator[Row]:
    return chain.from_iterable(make(pair, marks) for pair in pairs)


def _instead(calls: Calls, reply: Reply) -> list[str]:
    """What the model gave where there are no calls to show."""
    if calls.calls:
        return []
    if calls.malformed and reply.tool_calls:
        raw = reply.tool_calls[0]
        return [f"  raw call: {shown(raw.name)} {shown(raw.arguments)}"]
    if reply.refusal:
        return [f"  refusal: {shown(reply.refusal)}"]
    return [f"  text: {shown(reply.text)}"]


def _reasons(reasons: Sequence[Reason], marks: Marks, several: bool) -> list[str]:
    kept = len(reasons) if len(reasons) <= _REASONS else _REASONS - 1
    lines = [f"  {reason.kind}{_in_call(reason, several)}: {safe_line(reason.message)}" for reason in reasons[:kept]]
    return lines if kept == len(reasons) else [*lines, f"  {marks.cut} and {len(reasons) - kept} more (-vv)"]


def _in_call(reason: Reason, several: bool) -> str:
    """Which call it is about, where the model made several."""
    index = call_index(reason) if several else None
    return "" if index is None else f" in calls[{index}]"
