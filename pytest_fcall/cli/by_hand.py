"""Asking a person about each case."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcall.cli.accepting import Verdict
from pytest_fcall.reporting import safe_line

_QUESTION = "accept? [y]es, [n]o, [a]ll that are left, [q]uit: "


def chosen_by_hand(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Show each case, and keep those that the person wants; the end of the input is a `q`."""
    kept: list[Verdict] = []
    for number, (result, stanza) in enumerate(verdicts):
        outcome = result.outcome.value if result.outcome else "right"
        print(safe_line(f"{result.file}:{result.line} {result.case} ({result.model}): {outcome}"))
        for line in result.since:
            print(f"  {safe_line(line)}")
        answer = _answer()
        if answer == "a":
            return [*kept, *verdicts[number:]]
        if answer == "q":
            break
        if answer == "y":
            kept.append((result, stanza))
    return kept


def _answer() -> str:
    while True:
        try:
            word = input(_QUESTION).strip().lower()[:1]
        except EOFError:
            return "q"
        if word in {"y", "n", "a", "q"}:
            return word
