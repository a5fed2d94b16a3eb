"""The page on the architecture leads to modules that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def test_every_path_on_the_page_exists() -> None:
    paths = re.findall(r"`(pytest_fcall/[\w/]+\.py)`", PAGE)
    assert len(paths) >= 20
    assert [path for path in paths if not (ROOT / path).is_file()] == []


def test_every_room_is_on_the_page() -> None:
    inside = [*(ROOT / "pytest_fcall").glob("*.py"), *(ROOT / "pytest_fcall").glob("*/__init__.py")]
    names = {(path.parent if path.name == "__init__.py" else path).stem for path in inside}
    rooms = names - {"pytest_fcall", "hookspecs"}
    assert rooms == set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
