"""Commands: `{python}` in them, which is the interpreter that runs the tests, and the one that installs an extra."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Final

PYTHON_PLACEHOLDER: Final = "{python}"


def install_command(extra: str) -> str:
    """The command that installs an extra. Its quotes are double: single ones are no quotes in the shell of Windows."""
    return f'pip install "pytest-fcall[{extra}]"'


def with_interpreter(words: Iterable[str]) -> list[str]:
    """The words of a command, with the running interpreter for its placeholder."""
    return [sys.executable if word == PYTHON_PLACEHOLDER else word for word in words]


def program_hint(program: str, search_path: str | None = None) -> str:
    """A hint for a command without a folder that may mean the running interpreter or a program beside it; else empty.

    `search_path` is the `PATH` by which it is looked for, if not that of this process.
    """
    if PurePath(program).name != program or not sys.executable:
        return ""
    here = str(Path(sys.executable).parent)  # by their folders: interpreters of environments are often the same file
    found = shutil.which(program, path=search_path)
    if found is not None and str(Path(found).parent) == here:
        return ""
    if program.startswith("python"):
        meant = f'"{PYTHON_PLACEHOLDER}" in its place is {sys.executable}, which runs this'
        return f"{program} is {found}; {meant}" if found else meant
    beside = None if found else shutil.which(program, path=here)
    return f"{beside} is not on PATH: activate its environment, or write its whole path" if beside else ""
