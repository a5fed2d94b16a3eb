"""Tables of what the package says, kept beside the tests, so that a review shows each word that a change changes.

A line `? …` of a table is a question, and the lines below are the answer. `TABLE=write` writes the answers anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pytest_fcall.core import Verdict

QUESTION = "? "


def assert_answers_are_kept(path: Path, answer: Callable[[str], Iterable[str]]) -> None:
    """Answer each question of the table, and compare with what stands there."""
    kept = path.read_text("utf-8").splitlines()
    found: list[str] = []
    for line in kept:
        if line.startswith(QUESTION):
            found += [line, *answer(line.removeprefix(QUESTION))]
    if os.environ.get("TABLE") == "write":
        path.write_text("\n".join(found) + "\n", "utf-8", newline="")
        return
    assert len(found) > 20
    assert found == kept


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """The verdict, a line for each of its parts."""
    yield f"  {_verdict_text(verdict)}"
    yield from (f"    {each.kind} {each.path}: {each.message}" for each in verdict.reasons)
    yield from (f"    note: {each}" for each in verdict.notes)
    if len(verdict.turns) > 1:
        yield from (f"    turn: {_verdict_text(turn)}" for turn in verdict.turns)


def _verdict_text(verdict: Verdict) -> str:
    pairs = "".join(f" {place}={index}" for place, index in verdict.pairs)
    chosen = "" if verdict.alternative is None else f", alternative {verdict.alternative}"
    return f"{'right' if verdict.valid else 'wrong'}{chosen}{pairs}{' judged' if verdict.judged else ''}"
