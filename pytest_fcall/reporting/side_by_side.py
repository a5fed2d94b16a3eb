"""Two sides in columns, row by row; and two lists of calls that an assertion found different."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pytest_fcall.core.bounded_text import normal_form
from pytest_fcall.core.reply import Call
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import UNICODE, Marks, column_count, common_start, cut_end, cut_middle, pad
from pytest_fcall.reporting.value_text import PYTHON, call_text, value_text


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One row of the comparison, in safe text."""

    mark: str
    label: str
    left: str = ""
    right: str = ""


def side_by_side(titles: tuple[str, str], rows: Sequence[ComparisonRow], width: int, marks: Marks) -> list[str]:
    """Lay out the rows in at most `width` columns.

    If a row does not fit and both sides begin alike, they are shown from where they differ.
    """
    head_row = ComparisonRow(" ", "", *titles)
    label = min(max(column_count(row.label) for row in (head_row, *rows)), width // 3)
    room = max(width - label - 8, 2)
    wanted = max(column_count(row.right) for row in (head_row, *rows))
    left = min(max(column_count(row.left) for row in (head_row, *rows)), max(room - wanted, room // 2))
    return [_line(row, label, left, room - left, marks.cut) for row in (head_row, *rows)]


def visibly_different(left: str, right: str) -> tuple[str, str]:
    """Two texts, with escapes if they look the same, such as a composed and a decomposed é."""
    alike = normal_form("NFC", left) == normal_form("NFC", right)
    return (_ascii(left), _ascii(right)) if alike else (left, right)


def _line(row: ComparisonRow, label: int, left: int, right: int, cut: str) -> str:
    first, second = _fitted(row, left, right, cut)
    return f"  {row.mark} {pad(cut_end(row.label, label, cut), label)}  {pad(first, left)}  {second}".rstrip()


def _fitted(row: ComparisonRow, left: int, right: int, cut: str) -> tuple[str, str]:
    common = common_start((row.left, row.right))
    if common <= min(left, right) // 2 or (column_count(row.left) <= left and column_count(row.right) <= right):
        return cut_middle(row.left, left, cut), cut_middle(row.right, right, cut)
    start = common - min(left, right) // 3
    return cut_end(cut + row.left[start:], left, cut), cut_end(cut + row.right[start:], right, cut)


def _ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


def equality_lines(
    left: Sequence[Call],
    right: Sequence[Call],
    same: Callable[[object, object], bool],
    *,
    width: int = 100,
    marks: Marks = UNICODE,
) -> list[str]:
    """The calls side by side, in order. Calls that differ by `same` have a row for each argument."""
    rows = [
        row
        for place, pair in enumerate(zip_longest(left, right))
        for row in _equality_rows(f"[{place}]", *pair, same, marks)
    ]
    count = "" if len(left) == len(right) else f": {len(left)} on the left, {len(right)} on the right"
    return [f"the calls differ{count}", *side_by_side(("left", "right"), rows, width, marks)]


def _equality_rows(
    place: str, left: Call | None, right: Call | None, same: Callable[[object, object], bool], marks: Marks
) -> Iterator[ComparisonRow]:
    if left is None or right is None or left.name != right.name:
        yield ComparisonRow(marks.wrong, place, _side_text(left), _side_text(right))
    elif same(left.arguments, right.arguments):
        yield ComparisonRow(marks.right, place, _side_text(left), _side_text(right))
    else:
        yield ComparisonRow(marks.wrong, f"{place} {safe_line(left.name)}")
        for name in dict.fromkeys((*left.arguments, *right.arguments)):
            equal = name in left.arguments and name in right.arguments
            equal = equal and same(left.arguments[name], right.arguments[name])
            sides = _argument_text(left, name), _argument_text(right, name)
            mark = marks.right if equal else marks.wrong
            yield ComparisonRow(mark, f"  {safe_line(name)}", *(sides if equal else visibly_different(*sides)))


def _side_text(call: Call | None) -> str:
    return "(no call)" if call is None else call_text(call, spelling=PYTHON)


def _argument_text(call: Call, name: str) -> str:
    return value_text(call.arguments[name], spelling=PYTHON) if name in call.arguments else "(left out)"
