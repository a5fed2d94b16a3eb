"""`{python}` in a command: the interpreter that runs the tests, whatever `PATH` says."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Final

PYTHON_PLACEHOLDER: Final = "{python}"


def with_interpreter(words: Iterable[str]) -> list[str]:
    """The words of a command, with the running interpreter for its placeholder."""
    return [sys.executable if word == PYTHON_PLACEHOLDER else word for word in words]


def interpreter_hint(program: str, search_path: str | None = None) -> str:
    """What a name such as `python` stands for, where that is not the running interpreter; else nothing.

    `search_path` is the `PATH` by which it is looked for, if not that of this process.
    """
    if PurePath(program).name != program or not program.startswith("python") or not sys.executable:
        return ""
    found = shutil.which(program, path=search_path)
    # By their folders: interpreters of virtual environments are often links to one and the same file.
    if found is not None and Path(found).parent == Path(sys.executable).parent:
        return ""
    here = f'"{PYTHON_PLACEHOLDER}" in its place is {sys.executable}, which runs this'
    return f"{program} is {found}; {here}" if found else here
