"""Statistics of results: counts, rates with intervals, times, costs, shared causes; and how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, comb, sqrt
from typing import TypeVar

from pytest_fcall.core import Usage
from pytest_fcall.reporting.results import Result

_Number = TypeVar("_Number", int, float)

_Z = 1.959963984540054
"""Covers 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a group of results comes to. `answered` is the denominator of the accuracy: errors are no answers.

    What nobody measured is None, never zero.
    """

    right: int
    answered: int
    expected_failures: int
    errors: int
    skipped: int
    p50: float | None
    p95: float | None
    slowest: float | None
    tokens: int | None
    speed: float | None
    """Tokens of replies a second, from asking to the whole reply."""
    cost: float | None
    """In US dollars, of the replies whose cost is known, whenever they were given."""
    new_cost: float | None
    """The part of it that this run spent; the rest paid for replies that are recorded."""
    unpriced: int
    """Answers whose cost is not known."""

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong, broken or known to fail."""
        return self.right == self.answered and not self.errors


def statistics_of(results: Sequence[Result]) -> Statistics:
    """Count and measure."""
    answers = [result for result in results if result.answered]
    seconds = [result.seconds for result in answers if result.seconds is not None]
    return Statistics(
        right=sum(result.right for result in answers),
        answered=len(answers),
        expected_failures=sum(result.status == "xfailed" for result in answers),
        errors=sum(result.status == "error" for result in results),
        skipped=sum(result.status == "skipped" for result in results),
        p50=percentile(seconds, 50),
        p95=percentile(seconds, 95),
        slowest=percentile(seconds, 100),
        tokens=known_sum(map(_tokens, answers)),
        speed=_speed(answers),
        cost=known_sum(result.cost for result in answers),
        new_cost=known_sum(result.new_cost for result in answers),
        unpriced=sum(result.cost is None for result in answers),
    )


def known_sum(numbers: Iterable[_Number | None]) -> _Number | None:
    """The sum of what is known; None where nothing is."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def wilson_interval(right: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a rate: honest for few cases and for rates near 0 and 1."""
    if of == 0:
        return 0.0, 1.0
    rate = right / of
    middle = rate + _Z**2 / (2 * of)
    margin = _Z * sqrt(rate * (1 - rate) / of + _Z**2 / (4 * of**2))
    scale = 1 + _Z**2 / of
    return max((middle - margin) / scale, 0.0), min((middle + margin) / scale, 1.0)


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The smallest of `values` that at least `percent` % of them do not exceed; None of no values."""
    return sorted(values)[max(ceil(len(values) * percent / 100) - 1, 0)] if values else None


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
    low, high = wilson_interval(right, of)
    return f"[{100 * low:.0f}, {100 * high:.0f}]" if of else "-"


def seconds_text(seconds: float | None) -> str:
    """Write a time; nothing where it is not known."""
    if seconds is None:
        return ""
    if seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.0f} s"


def cost_text(cost: float | None, unpriced: int = 0) -> str:
    """Write US dollars, with a plus where some answers are of unknown cost; nothing where no cost is known."""
    if cost is None:
        return ""
    plus = "+" if unpriced else ""
    if 0 < cost < 0.0001:
        return f"<$0.0001{plus}"
    return f"${cost:,.2f}{plus}" if cost >= 1 or cost == 0 else f"${cost:.4f}{plus}"


def speed_text(speed: float | None) -> str:
    """Write tokens a second; nothing where they are not known."""
    return "" if speed is None else f"{speed:,.0f}" if speed >= 10 else f"{speed:.1f}"


def count_text(count: int | None) -> str:
    """Write a whole number; nothing where it is not known."""
    return "" if count is None else f"{count:,}"


def plural_text(count: int, noun: str) -> str:
    """Write how many there are of something."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def token_count(usage: Usage | None) -> int | None:
    """The tokens of input and output together."""
    return known_sum([usage.input_tokens, usage.output_tokens]) if usage else None


def _tokens(result: Result) -> int | None:
    return token_count(result.usage)


def _speed(answers: Iterable[Result]) -> float | None:
    timed = [
        (result.usage.output_tokens, result.seconds)
        for result in answers
        if result.usage and result.usage.output_tokens is not None and result.seconds
    ]
    return sum(tokens for tokens, _ in timed) / sum(seconds for _, seconds in timed) if timed else None


def age_text(seconds: float) -> str:
    """Write how old something is, in the largest unit of which there are two."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def pass_at_k(right: int, asked: int, times: int) -> float:
    """pass@k: the chance that at least one of so many answers is right, without bias."""
    _check_sample_counts(asked, times)
    return 1 - comb(asked - right, times) / comb(asked, times)


def pass_all_k(right: int, asked: int, times: int) -> float:
    """pass^k: the chance that all of so many answers are right, without bias."""
    _check_sample_counts(asked, times)
    return comb(right, times) / comb(asked, times)


def _check_sample_counts(asked: int, times: int) -> None:
    if not 1 <= times <= asked:
        raise ValueError(f"of {asked} answers 1 to {asked} can be taken, not {times}")


_ARGUMENT = re.compile(r"calls\[\d+\]\.args")
_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Cause:
    """A kind of reason at a place, which several failures share."""

    kind: str
    place: str
    """Over all calls and items: `*.legs[*].to`; empty where it is about no argument."""
    failures: tuple[Result, ...]


def shared_causes(results: Sequence[Result]) -> list[Cause]:
    """What at least two of the failures share, most shared first."""
    sharing: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result.status == "failed":
            for cause in dict.fromkeys((kind, _place(path)) for kind, path in result.reasons):
                sharing.setdefault(cause, []).append(result)
    shared = [Cause(kind, place, tuple(failures)) for (kind, place), failures in sharing.items() if len(failures) > 1]
    return sorted(shared, key=lambda cause: -len(cause.failures))


def _place(path: str) -> str:
    place, found = _ARGUMENT.subn("*", path, count=1)
    return _INDEX.sub("[*]", place) if found else ""
