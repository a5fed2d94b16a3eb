"""File names and folders of case files."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

_READ_AS_IDS = ("[", "::")
"""The sign that pytest takes for the beginning of an id where a path stands on the command line."""
_CASE_FILES = (".fc.yaml", ".fc.yml")
_TOOL_FILES = (".tools.yaml", ".tools.yml")


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
