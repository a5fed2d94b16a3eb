"""The strength of cases in the summary of a run: the weakest of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import column_count

_MOST_NAMED: Final = 4


def strength_lines(results: Sequence[Result], width: int) -> list[str]:
    """A line with the weakest cases; none where strength was not measured, or nothing is weak."""
    shares = {}
    for result in results:
        if result.strength is not None:
            caught, survived, _ = result.strength
            shares[result.file, result.case] = caught / (caught + survived) if survived else 1.0
    weak = sorted((share, case) for (_, case), share in shares.items() if share < 1)
    if not weak:
        return []
    texts = [f"{safe_line(case)} {100 * share:.0f} %" for share, case in weak[:_MOST_NAMED]]
    lines = (_line(texts[:count]) for count in range(len(texts), 1, -1))
    return [next((line for line in lines if column_count(line) <= width), _line(texts[:1]))]


def _line(weakest: Sequence[str]) -> str:
    return f"weakest cases: {', '.join(weakest)}; `fcall strength` says why"
