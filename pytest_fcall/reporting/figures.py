"""The figures that a summary needs, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

from pytest_fcall.reporting.results import Result

_Z = 1.959963984540054
"""Covers 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a group of results comes to. `answered` is the denominator of the accuracy: errors are no answers."""

    right: int
    answered: int
    expected_failures: int
    errors: int
    skipped: int
    p50: float | None
    p95: float | None
    tokens: int | None
    cost: float | None

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong, broken or known to fail."""
        return self.right == self.answered and not self.errors


def figures(results: Sequence[Result]) -> Figures:
    """Count and measure."""
    answers = [result for result in results if result.answered]
    seconds = [result.seconds for result in answers if result.seconds is not None]
    tokens = [count for result in answers if (count := _tokens(result)) is not None]
    costs = [result.cost for result in answers if result.cost is not None]
    return Figures(
        right=sum(result.right for result in answers),
        answered=len(answers),
        expected_failures=sum(result.status == "xfailed" for result in answers),
        errors=sum(result.status == "error" for result in results),
        skipped=sum(result.status == "skipped" for result in results),
        p50=percentile(seconds, 50) if seconds else None,
        p95=percentile(seconds, 95) if seconds else None,
        tokens=sum(tokens) if tokens else None,
        cost=sum(costs) if costs else None,
    )


def wilson(right: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a rate: honest for few cases and for rates near 0 and 1."""
    if of == 0:
        return 0.0, 1.0
    rate = right / of
    middle = rate + _Z**2 / (2 * of)
    margin = _Z * sqrt(rate * (1 - rate) / of + _Z**2 / (4 * of**2))
    scale = 1 + _Z**2 / of
    return max((middle - margin) / scale, 0.0), min((middle + margin) / scale, 1.0)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest of `values` (not empty) that at least `percent` % of them do not exceed."""
    return sorted(values)[max(ceil(len(values) * percent / 100) - 1, 0)]


def accuracy_text(right: int, of: int) -> str:
    """Write `93.8 %`; what is not quite all is never 100.0 %, and what is not quite nothing never 0.0 %."""
    if of == 0:
        return "-"
    percent = 100 * right / of
    if right not in (0, of):
        percent = min(max(percent, 0.1), 99.9)
    return f"{percent:.1f} %"


def interval_text(right: int, of: int) -> str:
    """Write the 95 % interval in percent: `[83, 98]`."""
    low, high = wilson(right, of)
    return f"[{100 * low:.0f}, {100 * high:.0f}]" if of else "-"


def seconds_text(seconds: float | None) -> str:
    """Write a time; nothing where it is not known."""
    if seconds is None:
        return ""
    if seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.0f} s"


def cost_text(cost: float | None) -> str:
    """Write US dollars; nothing where they are not known."""
    if cost is None:
        return ""
    return f"${cost:,.2f}" if cost >= 1 or cost == 0 else f"${cost:.4f}"


def count_text(count: int | None) -> str:
    """Write a whole number; nothing where it is not known."""
    return "" if count is None else f"{count:,}"


def _tokens(result: Result) -> int | None:
    usage = result.usage
    if usage is None or (usage.input_tokens is None and usage.output_tokens is None):
        return None
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)
