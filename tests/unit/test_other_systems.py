"""What can be known of Windows and macOS on any system."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath

import pytest

from pytest_fcall.core import Model
from tests.pages import ROOT

PACKAGE = ROOT / "pytest_fcall"
POSIX = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
LINUX_ONLY = {"conversation/execution/file_attributes.py", "conversation/execution/kernel_sandbox.py"}
"""Modules of the sandbox, which are imported by functions that ask for the system first."""


@pytest.fixture(scope="module")
def sources() -> dict[str, ast.Module]:
    """The modules of the package that have a word of what only some systems have, by their paths in it."""
    words = "|".join([*POSIX, *(Path(name).stem for name in LINUX_ONLY)])
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    return {name: ast.parse(text) for name, text in texts.items() if re.search(rf"\b({words})\b", text)}


def imported(nodes: list[ast.stmt]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_what_windows_lacks_is_imported_by_the_sandbox_of_linux_alone(sources: dict[str, ast.Module]) -> None:
    assert {name for name, tree in sources.items() if POSIX & {*imported(tree.body)}} == LINUX_ONLY


def test_nothing_imports_the_sandbox_of_linux_before_the_system_is_known(sources: dict[str, ast.Module]) -> None:
    modules = {f"pytest_fcall.{name.removesuffix('.py').replace('/', '.')}" for name in LINUX_ONLY}
    importers = {name for name, tree in sources.items() if modules & {*imported(tree.body)}}
    # The watcher is itself imported late, and is the first module that Linux alone can import.
    assert importers <= {"conversation/execution/watcher.py"}


def test_every_text_file_is_opened_in_an_encoding_that_is_named() -> None:
    checked = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--no-cache",
        "--preview",
        "--select=PLW1514",
        str(PACKAGE),
    ]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name", ["con", "NUL", "gpt:4", "a?b*", 'say "hi"', "a<b>|c", "dots...", "back\\slash", "x" * 300]
)
def test_the_folder_of_a_model_is_one_on_every_system(name: str) -> None:
    folder = Model("openai", name).folder
    assert PureWindowsPath(folder).name == folder
    assert not set(folder) & set('<>:"/\\|?*')
    assert folder.partition(".")[0].lower() not in {"con", "prn", "aux", "nul"}
    assert not folder.endswith((".", " "))
    assert len(folder) < 120


def test_models_whose_names_differ_by_case_have_folders_that_differ_by_more() -> None:
    folders = [Model("openai", name).folder.casefold() for name in ("Qwen", "qwen", "QWEN")]
    assert len(set(folders)) == 3
