"""The page on security names tests that exist, and all files of attacks."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/security.md").read_text(encoding="utf-8")
NAMED = {*re.findall(r"`(tests/[\w/]+\.py)`", PAGE)}


def test_each_test_that_holds_a_promise_exists() -> None:
    assert [name for name in sorted(NAMED) if not (ROOT / name).is_file()] == []


def test_each_file_of_attacks_holds_a_promise() -> None:
    attacks = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/attacks").glob("test_*.py")}
    assert attacks <= NAMED
