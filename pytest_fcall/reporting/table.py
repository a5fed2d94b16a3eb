"""Text in columns."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcall.reporting.columns import columns, pad, shorten

_GAP = "  "


def table_lines(titles: Sequence[str], rows: Sequence[Sequence[str]], texts: int, width: int) -> list[str]:
    """Lay out safe text in at most `width` columns.

    The first `texts` columns are words: one takes at most half of the width, two at most a third each. The others
    are figures. Empty ones are left out, and those that do not fit from the right on, but for the first.
    """
    lines = [list(titles), *map(list, rows)]
    used = [place for place in range(len(titles)) if place < texts or any(row[place] for row in rows)]
    widths = {place: max(columns(line[place]) for line in lines) for place in used}
    for place in range(texts):
        widths[place] = min(widths[place], max(width // (texts + 1), 1))
    while len(used) > texts + 1 and _total(used, widths) > width:
        used.pop()
    return [_GAP.join(_cell(line[place], widths[place], place < texts) for place in used).rstrip() for line in lines]


def _total(used: Sequence[int], widths: dict[int, int]) -> int:
    return sum(widths[place] + len(_GAP) for place in used) - len(_GAP)


def _cell(text: str, width: int, words: bool) -> str:
    text = shorten(text, width)
    return pad(text, width) if words else " " * (width - columns(text)) + text
