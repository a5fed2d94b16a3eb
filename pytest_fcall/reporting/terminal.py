"""Layout for a terminal: marks that it can show, the width of characters, tables."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from shutil import get_terminal_size
from typing import Final, NamedTuple, TextIO

NO_END: Final = 100_000
"""The width of what has no right edge, such as a file: nothing is cut there."""


def table_width(stream: TextIO, usual: int) -> int:
    """The width of tables on a stream: that of its terminal, and no limit where it is none."""
    bare: TextIO = getattr(stream, "bare", stream)
    return get_terminal_size((usual, 24)).columns if bare.isatty() else NO_END


class Marks(NamedTuple):
    """The marks of right and wrong lines, and of text that is cut."""

    right: str
    wrong: str
    cut: str


UNICODE = Marks("✓", "✗", "…")
ASCII = Marks(".", "!", "...")


def marks_for(encoding: str) -> Marks:
    """The marks that a terminal of this encoding can show."""
    return UNICODE if is_encodable(UNICODE.right + UNICODE.wrong + UNICODE.cut, encoding) else ASCII


def is_encodable(text: str, encoding: str) -> bool:
    """Whether a terminal of this encoding can show the text."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def encodable_text(encoding: str, text: str) -> str:
    """The text with escapes for what a terminal of this encoding cannot show; line breaks stay what they are."""
    return text if is_encodable(text, encoding) else text.encode("ascii", "backslashreplace").decode("ascii")


def column_count(text: str) -> int:
    """Count the columns that `text`, one line of safe text, takes."""
    return len(text) if text.isascii() else sum(map(_character_columns, text))


def common_start(texts: Sequence[str]) -> int:
    """The number of characters that all texts begin with: the first and the last in order differ the earliest."""
    first, last = min(texts), max(texts)
    different = (place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return next(different, min(len(first), len(last)))


def pad(text: str, width: int) -> str:
    """Fill up with spaces on the right."""
    return text + " " * (width - column_count(text))


def cut_middle(text: str, width: int, cut: str = "…") -> str:
    """Return `text` in at most `width` columns, with `cut` in place of the middle where it does not fit."""
    if column_count(text) <= width:
        return text
    room = max(width - column_count(cut), 0)
    tail = room // 3
    return _longest_start(text, room - tail) + cut[:width] + _longest_start(text[::-1], tail)[::-1]


def cut_end(text: str, width: int, cut: str = "…") -> str:
    """Return `text` in at most `width` columns, with `cut` at its end where it does not fit."""
    if column_count(text) <= width:
        return text
    return _longest_start(text, max(width - column_count(cut), 0)) + cut[:width]


def _longest_start(text: str, width: int) -> str:
    if text.isascii():
        return text[:width]
    return text[: sum(1 for taken in accumulate(map(_character_columns, text)) if taken <= width)]


def _character_columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def titled_blocks(blocks: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """Safe lines under their titles, and further to the right than these; a title without lines is left out."""
    for title, lines in blocks:
        if lines:
            yield f"  {title}:"
            yield from (f"    {line}" for line in lines)


_GAP = "  "


def table_lines(titles: Sequence[str], rows: Sequence[Sequence[str]], texts: int, width: int) -> list[str]:
    """Lay out safe text in at most `width` columns.

    The first `texts` columns are words. They are whole where there is room for all; else one takes at most half of the
    width, two at most a third each. The others are figures. Empty columns are left out, and so are the rightmost ones
    that do not fit, but for the first.
    """
    lines = [list(titles), *map(list, rows)]
    used = [place for place in range(len(titles)) if place < texts or any(row[place] for row in rows)]
    widths = {place: max(column_count(line[place]) for line in lines) for place in used}
    least = max(width // (texts + 1), 1)
    while _total(used, widths) > width and (wide := [place for place in range(texts) if widths[place] > least]):
        widths[max(wide, key=lambda place: widths[place])] -= 1
    while len(used) > texts + 1 and _total(used, widths) > width:
        used.pop()
    return [_GAP.join(_cell(line[place], widths[place], place < texts) for place in used).rstrip() for line in lines]


def _total(used: Sequence[int], widths: dict[int, int]) -> int:
    return sum(widths[place] + len(_GAP) for place in used) - len(_GAP)


def _cell(text: str, width: int, words: bool) -> str:
    text = cut_middle(text, width)
    return pad(text, width) if words else " " * (width - column_count(text)) + text
