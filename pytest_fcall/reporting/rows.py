"""A pair of calls as rows of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fcall.core import Reason
from pytest_fcall.core.pattern import Pattern
from pytest_fcall.reporting.marks import Marks
from pytest_fcall.reporting.pairing import Pair, argument_of, place_in_call
from pytest_fcall.reporting.safe import safe_line
from pytest_fcall.reporting.sides import Row, apart
from pytest_fcall.reporting.values import shown, shown_arguments


def pair_row(pair: Pair, marks: Marks) -> Row:
    """Both calls whole, in one row."""
    mark = marks.wrong if pair.wrong else marks.right
    return Row(mark, safe_line(pair.name), _expected(pair), _called(pair))


def brief_rows(pair: Pair, marks: Marks) -> Iterator[Row]:
    """Both calls in one row, and one for each wrong argument."""
    yield pair_row(pair, marks)
    for place, reason in _wrong_places(pair).items():
        yield _wrong_row(place, reason, pair, marks)


def argument_rows(pair: Pair, marks: Marks) -> Iterator[Row]:
    """One row for each argument, wrong ones first; a pair without wrong arguments takes one row."""
    wrong = _wrong_places(pair)
    if not wrong:
        yield pair_row(pair, marks)
        return
    yield Row(marks.wrong, safe_line(pair.name))
    for place, reason in wrong.items():
        yield _wrong_row(place, reason, pair, marks)
    yield from _right_rows(pair, marks)


def _wrong_places(pair: Pair) -> dict[str, Reason]:
    """The first reason for each place in the call; nothing where two different tools face each other."""
    if pair.expected is None or pair.called is None or pair.expected.tool != pair.called.name:
        return {}
    places: dict[str, Reason] = {}
    for reason in pair.reasons:
        if place := place_in_call(reason.path):
            places.setdefault(place, reason)
    return places


def _wrong_row(place: str, reason: Reason, pair: Pair, marks: Marks) -> Row:
    expected = shown(_patterns(pair).get(place, reason.expected))
    got = shown(_values(pair).get(place, reason.got))
    if reason.kind == "missing_argument":
        got = "(left out)"
    elif reason.kind == "unexpected_argument":
        expected = "(not expected)"
    return Row(marks.wrong, f"  {safe_line(place)}", *apart(expected, got))


def _right_rows(pair: Pair, marks: Marks) -> Iterator[Row]:
    patterns, values = _patterns(pair), _values(pair)
    names = {**patterns, **values}
    wrong = {argument_of(place_in_call(reason.path), names) for reason in pair.reasons}
    for name in names:
        if name not in wrong:
            expected = shown(patterns[name]) if name in patterns else "(open)"
            got = shown(values[name]) if name in values else "(left out)"
            yield Row(marks.right, f"  {safe_line(name)}", expected, got)


def _expected(pair: Pair) -> str:
    if pair.expected is None:
        return "(not expected)" if pair.wrong else "(allowed)"
    if pair.expected.arguments is None:
        return "(any arguments)"
    return shown_arguments(pair.expected.arguments) or "(no arguments)"


def _called(pair: Pair) -> str:
    if pair.called is None:
        return "(not called)"
    arguments = shown_arguments(pair.called.arguments) or "(no arguments)"
    if pair.called.name == pair.name:
        return arguments
    return f"{safe_line(pair.called.name)}: {arguments}"


def _patterns(pair: Pair) -> Mapping[str, Pattern]:
    return (pair.expected.arguments if pair.expected else None) or {}


def _values(pair: Pair) -> Mapping[str, object]:
    return pair.called.arguments if pair.called else {}
