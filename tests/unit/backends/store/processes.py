"""Starting processes that keep replies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


def writer(path: Path, first: int, last: int, limit: str = "") -> subprocess.Popen[str]:
    arguments = [str(path), str(first), str(last), *([limit] if limit else [])]
    return python("-m", "tests.unit.backends.store.writer", *arguments)
