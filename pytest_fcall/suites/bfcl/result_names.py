"""The meaning of the names of result files and of the ids in them: whose answers they are, and to which cases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.categories import CATEGORIES

_RESULT_FILE: Final = re.compile(r"(?:BFCL_v\d|(gorilla_openfunctions_v1_test))_(.+)_result\.jsonl?(?:\.gz)?")
_GROUP_FOLDERS: Final = frozenset(
    ("non_live", "live", "multi_turn", "agentic", "memory", "kv", "vector", "rec_sum", "format_sensitivity")
)
"""The folders that the harness puts between that of a model and its files."""
_BY_FIRST_NAME: Final[Mapping[str, str]] = MappingProxyType(
    {category.first_name: name for name, category in CATEGORIES.items() if category.first_name}
)


@lru_cache(maxsize=64)
def model_of_file(name: str) -> str:
    """Return whose answers a file has: the harness calls a folder by the model, others call the file so."""
    path = Path(name)
    if name == "-":
        return "stdin"
    if not _RESULT_FILE.fullmatch(path.name):
        return re.sub(r"\.jsonl?(\.gz)?\Z", "", path.name)
    folders = (folder.name for folder in path.absolute().parents)
    return next((folder for folder in folders if folder and folder not in _GROUP_FOLDERS), path.name)


@lru_cache(maxsize=64)
def category_of_file(name: str) -> str:
    """Return the category of a result file of the first version; empty for other files, whose rows say it."""
    found = _RESULT_FILE.fullmatch(Path(name).name)
    return _BY_FIRST_NAME.get(found[2], "") if found and found[1] else ""


def with_current_id(row: Mapping[str, Json], category: str) -> Mapping[str, Json]:
    """Return a row of results of the first version with the id that its case has today.

    Rows had a name and a number, such as `simple_17`, and before that a number alone, in the file of `category`.
    """
    id_, number = row.get("id"), row.get("idx")
    if "result" not in row or "category" in row:
        return row
    if id_ is None and category and isinstance(number, int):
        return {**row, "id": f"{category}_{number}"}
    first, _, place = str(id_).rpartition("_")
    return {**row, "id": f"{_BY_FIRST_NAME[first]}_{place}"} if first in _BY_FIRST_NAME else row
