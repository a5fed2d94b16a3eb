"""Two lists of calls that a plain test found different."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from pytest_fcall.core import Call
from pytest_fcall.reporting.marks import UNICODE, Marks
from pytest_fcall.reporting.safe import safe_line
from pytest_fcall.reporting.sides import Row, apart, side_by_side
from pytest_fcall.reporting.values import PYTHON, shown, shown_arguments


def equality_lines(
    left: Sequence[Call],
    right: Sequence[Call],
    same: Callable[[object, object], bool],
    *,
    width: int = 100,
    marks: Marks = UNICODE,
) -> list[str]:
    """Lay the calls side by side, in order; of calls that differ, the arguments that `same` tells apart."""
    rows = [
        row for place, pair in enumerate(zip_longest(left, right)) for row in _rows(f"[{place}]", *pair, same, marks)
    ]
    count = "" if len(left) == len(right) else f": {len(left)} on the left, {len(right)} on the right"
    return [f"the calls differ{count}", *side_by_side(("left", "right"), rows, width, marks)]


def _rows(
    place: str, left: Call | None, right: Call | None, same: Callable[[object, object], bool], marks: Marks
) -> Iterator[Row]:
    if left is None or right is None or left.name != right.name:
        yield Row(marks.wrong, place, _whole(left), _whole(right))
    elif same(left.arguments, right.arguments):
        yield Row(marks.right, place, _whole(left), _whole(right))
    else:
        yield Row(marks.wrong, f"{place} {safe_line(left.name)}")
        for name in dict.fromkeys((*left.arguments, *right.arguments)):
            equal = name in left.arguments and name in right.arguments
            equal = equal and same(left.arguments[name], right.arguments[name])
            sides = _argument(left, name), _argument(right, name)
            mark = marks.right if equal else marks.wrong
            yield Row(mark, f"  {safe_line(name)}", *(sides if equal else apart(*sides)))


def _whole(call: Call | None) -> str:
    return (
        "(no call)" if call is None else f"{safe_line(call.name)}({shown_arguments(call.arguments, spelling=PYTHON)})"
    )


def _argument(call: Call, name: str) -> str:
    return shown(call.arguments[name], spelling=PYTHON) if name in call.arguments else "(left out)"
