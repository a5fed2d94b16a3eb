"""The page on strength lists what is counted."""

from __future__ import annotations

from pathlib import Path

from pytest_fcall.strength.mistakes.kinds import MISTAKES, SEEN

PAGE = (Path(__file__).parents[2] / "docs/how-to/strength.md").read_text(encoding="utf-8")


def test_every_kind_of_mistake_is_listed_with_what_was_seen_of_it() -> None:
    listed = sorted(MISTAKES, key=lambda mistake: -SEEN.get(mistake, 0))
    rows = [f"| {each} | {MISTAKES[each]} | {f'{SEEN[each]:,}' if each in SEEN else 'not seen'} |" for each in listed]
    assert "\n".join(rows) in PAGE
