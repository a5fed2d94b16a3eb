"""A pair of calls as rows of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.reporting.marks import Marks
from pytest_fcall.reporting.pairing import Pair, Spot, argument_names, spots
from pytest_fcall.reporting.safe import safe_line
from pytest_fcall.reporting.sides import Row, apart
from pytest_fcall.reporting.values import shown, shown_arguments


def pair_row(pair: Pair, marks: Marks) -> Row:
    """Both calls whole, in one row."""
    mark = marks.wrong if pair.wrong else marks.right
    return Row(mark, safe_line(pair.name), _expected(pair), _called(pair))


def brief_rows(pair: Pair, marks: Marks) -> Iterator[Row]:
    """Both calls in one row, and one for each wrong place in the arguments."""
    yield pair_row(pair, marks)
    for spot in _spots(pair):
        yield _wrong_row(spot, pair, marks)


def argument_rows(pair: Pair, marks: Marks) -> Iterator[Row]:
    """One row for each argument, wrong ones first; a pair without wrong arguments takes one row."""
    wrong = _spots(pair)
    if not wrong:
        yield pair_row(pair, marks)
        return
    yield Row(marks.wrong, safe_line(pair.name))
    for spot in wrong:
        yield _wrong_row(spot, pair, marks)
    shown_already = {spot.argument for spot in wrong}
    for name in argument_names(pair):
        if name not in shown_already:
            yield _other_row(name, pair, marks.right if pair.complete else " ")


def _spots(pair: Pair) -> list[Spot]:
    """The wrong places; none where two different tools face each other, whose arguments say nothing."""
    same_tool = pair.expected is not None and pair.called is not None and pair.expected.tool == pair.called.name
    return spots(pair) if same_tool else []


def _wrong_row(spot: Spot, pair: Pair, marks: Marks) -> Row:
    wanted = spot.within(_patterns(pair), spot.reason.expected)
    is_known = isinstance(wanted, Operator) and wanted.name == "from" and not isinstance(spot.reason.expected, Operator)
    expected = shown(spot.reason.expected if is_known else wanted)
    got = shown(spot.within(_values(pair), spot.reason.got))
    if spot.reason.kind == "missing_argument":
        got = "(left out)"
    elif spot.reason.kind == "unexpected_argument":
        expected = "(not expected)"
    return Row(marks.wrong, f"  {safe_line(spot.place)}", *apart(expected, got))


def _other_row(name: str, pair: Pair, mark: str) -> Row:
    patterns, values = _patterns(pair), _values(pair)
    expected = shown(patterns[name]) if name in patterns else "(open)"
    got = shown(values[name]) if name in values else "(left out)"
    return Row(mark, f"  {safe_line(name)}", expected, got)


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
