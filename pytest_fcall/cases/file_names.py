"""File names and folders of case files."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

_PROMISES = (".fc.yaml", ".fc.yml")
_TOOLS = (".tools.yaml", ".tools.yml")


def is_case_file_name(path: Path) -> bool:
    """Whether the name says that it is a case file; other YAML may lie in a folder of cases."""
    return path.name.endswith(_PROMISES)


def may_hold_cases(path: Path, root: Path, globs: Sequence[str] = ("cases/**",)) -> bool:
    """Whether it is a case file, or YAML where `globs`, from the root folder, say that there may be cases."""
    if path.name.endswith(_TOOLS) or "__fcall__" in path.parts:
        return False
    if is_case_file_name(path):
        return True
    if path.suffix not in (".yaml", ".yml") or not path.is_relative_to(root):
        return False
    relative = path.relative_to(root).as_posix()
    return any(fnmatchcase(relative, glob) for glob in globs)
