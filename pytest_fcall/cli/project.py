"""The root folder of a project, and its case files."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.cases.file_names import is_case_file_name, is_tools_file_name, may_hold_cases
from pytest_fcall.core.files import path_from_root

if TYPE_CHECKING:
    from pytest_fcall.core.case import Fault

ROOT_MARKERS = (
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
    """The root folder, and the files that may hold cases."""

    root: Path
    files: tuple[Path, ...]
    named_files: frozenset[Path]
    """The files that the command line names itself."""

    def is_meant_as_cases(self, path: Path, fault: Fault) -> bool:
        """Whether to report that `path` cannot be read. YAML without cases may lie beside case files."""
        return fault.code != "no-cases" or path in self.named_files or is_case_file_name(path)

    def relative(self, path: Path) -> str:
        """`path` from the root."""
        return path_from_root(path, self.root)


def open_project(parser: ArgumentParser, arguments: Sequence[str]) -> Project:
    """Find the case files of files and folders.

    Modules at the root and beside a conftest.py become importable. Paths that do not exist, and folders without a case
    file, end the program through `parser`.
    """
    paths = existing_paths(parser, arguments)
    root = root_of(paths)
    files = dict.fromkeys(file for path in paths for file in ([path] if path.is_file() else _case_files(path, root)))
    if not files:
        rest = _tools_alone(paths, root)
        parser.error(
            f"no case files found: their names end in .fc.yaml, or they are YAML files in the folder cases/{rest}"
        )
    sys.path[:0] = map(str, dict.fromkeys([root, *_folders_with_conftest(files, root)]))
    return Project(root, tuple(files), frozenset(path for path in paths if path.is_file()))


def existing_paths(parser: ArgumentParser, arguments: Sequence[str]) -> list[Path]:
    """The files and folders of the command line; the current folder without any. `parser` reports a missing one."""
    for argument in arguments:
        if not Path(argument).exists():
            parser.error(f"no such file or folder: {argument}")
    return [Path(argument).absolute() for argument in arguments or ["."]]


def root_of(paths: Sequence[Path]) -> Path:
    """The root folder of files and folders, chosen as pytest chooses it."""
    common = Path(os.path.commonpath([path.parent if path.is_file() else path for path in paths]))
    for folder in (common, *common.parents):
        if any((folder / marker).is_file() for marker in ROOT_MARKERS):
            return folder
    here = Path.cwd()
    return here if common.is_relative_to(here) else common


def _folders_with_conftest(files: Iterable[Path], root: Path) -> Iterator[Path]:
    """Folders that pytest adds to sys.path for a conftest.py, which makes the modules beside it importable."""
    folders = dict.fromkeys(folder for file in files for folder in file.parents if folder.is_relative_to(root))
    return (folder for folder in folders if (folder / "conftest.py").is_file())


def _tools_alone(paths: Sequence[Path], root: Path) -> str:
    """A hint for a project that has a file of tools and no case file; empty without a file of tools."""
    found = next((file for path in paths for file in _files_below(path) if is_tools_file_name(file)), None)
    if found is None:
        return ""
    name = path_from_root(found, root)
    return f"; {name} holds tools alone: `fcall tools lock {name}` and `lint` take it by its name"


def _case_files(folder: Path, root: Path) -> Iterator[Path]:
    return (path for path in _files_below(folder) if may_hold_cases(path, root))


def _files_below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not any(fnmatchcase(name, glob) for glob in _NEVER_ENTERED))
        yield from (Path(parent, name) for name in sorted(files))
