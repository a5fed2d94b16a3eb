"""Properties are tried on the same examples each time where `CI` is set, so that no change is refused by chance."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.by_night import is_night


def test_examples_do_not_depend_on_what_is_imported(
    pytestconfig: pytest.Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_night(pytestconfig):
        pytest.skip("a night looks for other examples each time")
    before = examples()
    module = ModuleType("of_the_project")
    module.__file__ = str(tmp_path / "of_the_project.py")
    (tmp_path / "of_the_project.py").write_text("\n".join(f"A_{n} = 'word number {n}'" for n in range(1_000)))
    monkeypatch.setitem(sys.modules, "of_the_project", module)
    assert examples() == before


def examples() -> list[str]:
    drawn = []

    @settings(derandomize=True, database=None, max_examples=200)
    @given(st.text())
    def draw(text: str) -> None:
        drawn.append(text)

    draw()
    return drawn
