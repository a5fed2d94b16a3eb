"""The questions that are asked in many formats: which they are, and their rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

from pytest_fcall.suites.bfcl.categories import CATEGORIES, Category
from pytest_fcall.suites.bfcl.data import Row, rows_of
from pytest_fcall.suites.bfcl.prompt_format import FORMATS


def format_rows(category: Category, folder: Path) -> Iterator[Row]:
    """Each question in each format, in the leaderboard's order; but for the id, a row is that of its own category.

    Raises ValueError, in words, for a file that is not there, or says something else.
    """
    number = count()
    for name, ids in asked_ids(folder / category.questions).items():
        wanted = frozenset(ids)
        for row in rows_of(CATEGORIES[name], folder):
            for form in FORMATS if row.id in wanted else ():
                id_ = f"{category.name}_{next(number)}:{form.config}:{row.id}"
                yield Row(id_, row.place, {**row.data, "id": id_}, row.fault)


def asked_ids(path: Path) -> Mapping[str, Sequence[str]]:
    """The ids of the questions, by their categories. Raises ValueError, in words."""
    try:
        asked = json.loads(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(asked, dict) or not all(map(_is_texts, asked.values())):
        raise ValueError(f"{path} is not an object that lists ids by category")
    for name in asked:
        if name not in CATEGORIES or CATEGORIES[name].truth != "calls" or "java" in name:
            raise ValueError(f"{path} names {name!r:.60}, whose cases are not those of one request in Python")
    return asked


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
