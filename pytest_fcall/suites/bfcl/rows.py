"""The rows of a category, wherever they come from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.data import Row, rows_of
from pytest_fcall.suites.bfcl.first_version import first_rows
from pytest_fcall.suites.bfcl.format_rows import asked_ids, format_rows
from pytest_fcall.suites.bfcl.prompt_format import FORMATS


def rows_in(category: Category, folder: Path) -> Iterator[Row]:
    """The rows in their order. Raises ValueError, in words, for a file that is not there."""
    if category.truth == "elsewhere":
        return format_rows(category, folder)
    questions, _ = places_of(category, folder)
    return first_rows(category, questions) if questions.name == category.first_version else rows_of(category, folder)


def count_of(category: Category, folder: Path) -> int:
    """How many there are, without a look into them. Raises ValueError and OSError for a file that cannot be read."""
    questions, _ = places_of(category, folder)
    if category.truth == "elsewhere":
        return len(FORMATS) * sum(map(len, asked_ids(questions).values()))
    with questions.open("rb") as stream:
        return sum(1 for line in stream if line.strip())


def places_of(category: Category, folder: Path) -> tuple[Path, Path | None]:
    """The files of questions and truths: those of today, or of the first version where only these are there."""
    if (first := category.first_version) and (folder / first).is_file() and not (folder / category.questions).is_file():
        return folder / first, folder / "possible_answer" / first
    return folder / category.questions, folder / category.answers if category.answers else None
