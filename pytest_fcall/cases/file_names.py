"""Names and folders of case files, and files that look like case files by their content alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from pytest_fcall.core.files import open_regular

_READ_AS_IDS = ("[", "::")
"""The sign that pytest takes for the beginning of an id where a path stands on the command line."""
_CASE_FILES = (".fc.yaml", ".fc.yml")
_TOOL_FILES = (".tools.yaml", ".tools.yml")
_HEAD_BYTES: Final = 65_536
_CASES: Final = re.compile(rb'^cases:|"cases"\s*:\s*\[', re.MULTILINE)
_QUESTION_WORDS: Final = (b"prompt", b"turns", b"messages")
_QUESTION: Final = re.compile(rb"""(?:^|[\s{,"'])(?:%b)["']?\s*:""" % b"|".join(_QUESTION_WORDS), re.MULTILINE)


def is_case_file_name(path: Path) -> bool:
    """Whether the name alone makes it a case file. Other YAML files are case files only in a folder of cases."""
    return path.name.endswith(_CASE_FILES)


def is_tools_file_name(path: Path) -> bool:
    """Whether the name says that it holds tools alone, for case files to include."""
    return path.name.endswith(_TOOL_FILES)


def is_read_as_id(path: str) -> bool:
    """Whether pytest cannot be given the path of a file, as it would read a part of it as the id of a test."""
    return any(sign in path for sign in _READ_AS_IDS)


def never_holds_cases(path: Path) -> bool:
    """Whether it is a file of tools, or lies where recordings and baselines are."""
    return is_tools_file_name(path) or "__fcall__" in path.parts


def may_hold_cases(path: Path, root: Path, globs: Sequence[str] = ("cases/**",)) -> bool:
    """Whether it is a case file by its name, or a YAML file whose path from the root folder matches a glob."""
    if never_holds_cases(path):
        return False
    if is_case_file_name(path):
        return True
    if path.suffix not in (".yaml", ".yml") or not path.is_relative_to(root):
        return False
    relative = path.relative_to(root).as_posix()
    return any(fnmatchcase(relative, glob) for glob in globs)


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
