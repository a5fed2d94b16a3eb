"""Cases in a table: a row a case, a column a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pytest_fcall.reporting.terminal import Marks, column_count, common_start, cut_end, cut_middle, pad

_GAP: Final = "  "
_LEAST_CUT: Final = 12
"""A common beginning of fewer characters is left as it is."""
_KEPT: Final = 6
"""So many characters before the first difference are shown."""


class CaseCell(NamedTuple):
    """The result of one model for a case, in safe text. `right` is None where there is no verdict."""

    right: bool | None
    text: str


class CaseRow(NamedTuple):
    """A case, by the models that were asked."""

    case: str
    cells: Mapping[str, CaseCell]


def case_table(rows: Sequence[CaseRow], models: Sequence[str], width: int, marks: Marks) -> list[str]:
    """The rows in at most `width` columns: the case takes at most a third, the models share the rest."""
    first = min(max(column_count(row.case) for row in rows), width // 3)
    room = max((width - first) // len(models) - len(_GAP), 1)
    lines = [
        ["", *(f"  {model}" for model in models)],
        *([row.case, *_cell_texts([row.cells.get(model) for model in models], room, marks)] for row in rows),
    ]
    wanted = (max(column_count(line[place]) for line in lines) for place in range(1, len(models) + 1))
    widths = [first, *(min(each, room) for each in wanted)]
    return [_line(line, widths, marks) for line in lines]


def _line(cells: Sequence[str], widths: Sequence[int], marks: Marks) -> str:
    title, *answers = zip(cells, widths, strict=True)
    shown = [cut_middle(*title, marks.cut), *(cut_end(*answer, marks.cut) for answer in answers)]
    return _GAP.join(pad(cell, width) for cell, width in zip(shown, widths, strict=True)).rstrip()


def _cell_texts(cells: Sequence[CaseCell | None], room: int, marks: Marks) -> Iterator[str]:
    """The cells of a row. Where one does not fit and all begin alike, they are shown from where they differ."""
    texts = [cell.text for cell in cells if cell]
    common = common_start(texts) if len(texts) > 1 else 0
    is_cut = common > _LEAST_CUT and max(map(column_count, texts)) > room - 2
    for cell in cells:
        if cell is None:
            yield ""
            continue
        mark = " " if cell.right is None else marks.right if cell.right else marks.wrong
        yield f"{mark} {marks.cut + cell.text[common - _KEPT :] if is_cut else cell.text}"
