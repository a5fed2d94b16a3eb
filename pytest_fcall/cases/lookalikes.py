"""Files that look like case files, by their content, and are none by their names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pytest_fcall.cases.file_names import is_case_file_name, never_holds_cases
from pytest_fcall.core.files import open_regular

_HEAD_BYTES: Final = 65_536
_CASES: Final = re.compile(rb'^cases:|"cases"\s*:\s*\[', re.MULTILINE)
_QUESTION_WORDS: Final = (b"prompt", b"turns", b"messages")
_QUESTION: Final = re.compile(rb"""(?:^|[\s{,"'])(?:%b)["']?\s*:""" % b"|".join(_QUESTION_WORDS), re.MULTILINE)


def looks_like_cases(path: Path) -> bool:
    """Whether the start of a file has a list of cases with questions in it. Other files with `cases:` have none."""
    if never_holds_cases(path):
        return False
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    if b"cases" not in head or not any(word in head for word in _QUESTION_WORDS):  # much faster than the patterns
        return False
    return bool(_CASES.search(head) and _QUESTION.search(head))


def how_to_collect(path: Path, root: Path) -> str:
    """The change that makes pytest collect a file that looks like a case file."""
    relative = path.relative_to(root) if path.is_relative_to(root) else path
    if is_case_file_name(path):
        return f"run `pytest {relative.parent.as_posix()}`, or add {relative.parent.as_posix()} to testpaths"
    stem = path.name.split(".")[0]
    name = f"name it {relative.with_name(f'{stem}.fc.yaml').as_posix()}"
    if path.suffix not in (".yaml", ".yml"):
        return name
    folder = relative.parent.as_posix()
    return f"{name}, or add {relative.name if folder == '.' else f'{folder}/**'} to fc_files"
