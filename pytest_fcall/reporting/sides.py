"""Two sides, row by row, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import normalize

from pytest_fcall.reporting.columns import columns, head, pad, shorten
from pytest_fcall.reporting.marks import Marks


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the comparison, in safe text."""

    mark: str
    label: str
    left: str = ""
    right: str = ""


def side_by_side(titles: tuple[str, str], rows: Sequence[Row], width: int, marks: Marks) -> list[str]:
    """Lay out the rows in at most `width` columns.

    Where a row does not fit and both sides begin alike, they are shown from where they part.
    """
    head_row = Row(" ", "", *titles)
    label = min(max(columns(row.label) for row in (head_row, *rows)), width // 3)
    room = max(width - label - 8, 2)
    wanted = max(columns(row.right) for row in (head_row, *rows))
    left = min(max(columns(row.left) for row in (head_row, *rows)), max(room - wanted, room // 2))
    return [_line(row, label, left, room - left, marks.cut) for row in (head_row, *rows)]


def apart(left: str, right: str) -> tuple[str, str]:
    """Two texts that look the same, such as a composed and a decomposed é, as escapes; others as they are."""
    alike = normalize("NFC", left) == normalize("NFC", right)
    return (_ascii(left), _ascii(right)) if alike else (left, right)


def _line(row: Row, label: int, left: int, right: int, cut: str) -> str:
    first, second = _fitted(row, left, right, cut)
    return f"  {row.mark} {pad(head(row.label, label, cut), label)}  {pad(first, left)}  {second}".rstrip()


def _fitted(row: Row, left: int, right: int, cut: str) -> tuple[str, str]:
    common = _common(row.left, row.right)
    if common <= min(left, right) // 2 or (columns(row.left) <= left and columns(row.right) <= right):
        return shorten(row.left, left, cut), shorten(row.right, right, cut)
    start = common - min(left, right) // 3
    return head(cut + row.left[start:], left, cut), head(cut + row.right[start:], right, cut)


def _common(left: str, right: str) -> int:
    """How many characters both texts begin with."""
    parted = (place for place, (a, b) in enumerate(zip(left, right, strict=False)) if a != b)
    return next(parted, min(len(left), len(right)))


def _ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()
