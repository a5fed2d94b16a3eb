"""Where a project's case files are."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_fcall.cases.file_names import is_case_file_name, may_hold_cases
from pytest_fcall.core import Fault

_MARKERS = (
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
    "setup.py",
)
_NEVER_ENTERED = (".*", "__fcall__", "__pycache__", "*.egg", "build", "dist", "node_modules", "venv")


@dataclass(frozen=True, slots=True)
class Project:
    """The root folder, as pytest would choose it, and the files that may hold cases."""

    root: Path
    files: tuple[Path, ...]
    named: frozenset[Path]
    """Those that the command line names itself."""

    def means_cases(self, path: Path, fault: Fault) -> bool:
        """Whether it matters that `path` cannot be read: YAML without cases may lie beside case files."""
        return fault.code != "no-cases" or path in self.named or is_case_file_name(path)

    def shown(self, path: Path) -> str:
        """`path` as a person at the root would write it."""
        return (path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix()


def open_project(parser: ArgumentParser, arguments: Sequence[str]) -> Project:
    """Find the project of files and folders, and make modules importable at its root and beside a conftest.py.

    Paths that do not exist, and folders without any case file, end the program through `parser`.
    """
    paths = existing_paths(parser, arguments)
    root = root_of(paths)
    found = dict.fromkeys(file for path in paths for file in ([path] if path.is_file() else _walk(path, root)))
    if not found:
        parser.error("no case files here: their names end in .fc.yaml, or they are YAML files in the folder cases/")
    sys.path[:0] = map(str, dict.fromkeys([root, *_folders_with_conftest(found, root)]))
    return Project(root, tuple(found), frozenset(path for path in paths if path.is_file()))


def existing_paths(parser: ArgumentParser, arguments: Sequence[str]) -> list[Path]:
    """The files and folders that the command line names, or else this folder; `parser` tells of those not there."""
    for argument in arguments:
        if not Path(argument).exists():
            parser.error(f"there is no {argument}")
    return [Path(argument).absolute() for argument in arguments or ["."]]


def root_of(paths: Sequence[Path]) -> Path:
    """The root folder of files and folders, as pytest would choose it."""
    common = Path(os.path.commonpath([path.parent if path.is_file() else path for path in paths]))
    for folder in (common, *common.parents):
        if any((folder / marker).is_file() for marker in _MARKERS):
            return folder
    here = Path.cwd()
    return here if common.is_relative_to(here) else common


def _folders_with_conftest(files: Iterable[Path], root: Path) -> Iterator[Path]:
    """pytest imports these files by the folder that they are in, which makes their neighbours importable."""
    folders = dict.fromkeys(folder for file in files for folder in file.parents if folder.is_relative_to(root))
    return (folder for folder in folders if (folder / "conftest.py").is_file())


def _walk(folder: Path, root: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not any(fnmatchcase(name, glob) for glob in _NEVER_ENTERED))
        yield from (path for name in sorted(files) if may_hold_cases(path := Path(parent, name), root))
