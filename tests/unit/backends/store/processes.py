"""Starting processes that keep replies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pytest_fcall.backends.store.address import StorePlace
from tests.unit.backends.store.entries import argument_of

ROOT = Path(__file__).parents[4]


def python(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def writer(place: StorePlace, first: int, last: int, limit: str = "") -> subprocess.Popen[str]:
    arguments = [argument_of(place), str(first), str(last), *([limit] if limit else [])]
    return python("-m", "tests.unit.backends.store.writer", *arguments)
