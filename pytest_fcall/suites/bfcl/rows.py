"""The rows of a category, wherever they come from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.data import Row, rows_of
from pytest_fcall.suites.bfcl.format_rows import asked_ids, format_rows
from pytest_fcall.suites.bfcl.prompt_format import FORMATS


def rows_in(category: Category, folder: Path) -> Iterator[Row]:
    """The rows in their order. Raises ValueError, in words, for a file that is not there."""
    return format_rows(category, folder) if category.truth == "elsewhere" else rows_of(category, folder)


def count_of(category: Category, folder: Path) -> int:
    """How many there are, without a look into them. Raises ValueError and OSError for a file that cannot be read."""
    if category.truth == "elsewhere":
        return len(FORMATS) * sum(map(len, asked_ids(folder / category.questions).values()))
    with (folder / category.questions).open("rb") as stream:
        return sum(1 for line in stream if line.strip())
