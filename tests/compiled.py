"""The tests and the package, compiled by all workers together, where nothing is compiled yet.

Each worker would compile all of it, at the same time as the others, which takes longer than everything that it imports.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from compileall import compile_file
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "pytest_fcall"


def compile_share(config: pytest.Config, number: int, count: int) -> None:
    """Compile every file of which the place in the list of all has this remainder."""
    if sys.dont_write_bytecode:
        return
    for path in [*_files()][number::count]:
        if path.name.startswith("test_") or path.name == "conftest.py":
            _compile_rewritten(path, config)
        else:
            compile_file(path, quiet=2)


def _files() -> Iterator[Path]:
    for folder in (PACKAGE, TESTS):
        yield from sorted(folder.rglob("*.py"))


def _compile_rewritten(path: Path, config: pytest.Config) -> None:
    """Write what pytest would write of a module whose assertions it rewrites."""
    written = Path(cache_from_source(path)).with_name(path.stem + rewrite.PYC_TAIL)
    if written.exists() and written.stat().st_mtime >= path.stat().st_mtime:
        return
    with suppress(SyntaxError):  # who imports it is told
        status, code = rewrite._rewrite_test(path, config)
        written.parent.mkdir(exist_ok=True)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, status, written)
