"""What is said of cases that were asked several times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from pytest_fcall.reporting.columns import head
from pytest_fcall.reporting.figures import accuracy_text, interval_text
from pytest_fcall.reporting.passes import pass_all, pass_at
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe import safe_line

_LISTED = 10


def sample_lines(results: Sequence[Result], width: int) -> list[str]:
    """Chances to be right at least once and each time, cases that are now right and now wrong, and what was spared.

    Nothing where each case was asked once.
    """
    sampled = [result for result in results if result.samples and result.answered]
    return [*_chances(sampled), *_flaky(sampled, width), *_spared(sampled)] if sampled else []


def _chances(sampled: Sequence[Result]) -> list[str]:
    rates = [result.samples for result in sampled if result.samples]
    times = min(asked for _, asked in rates)
    cases = "1 case" if len(rates) == 1 else f"{len(rates):,} cases"
    chances = [f"pass@1 {_mean(pass_at, rates, 1)}"]
    if times > 1:
        chances += [f"pass@{times} {_mean(pass_at, rates, times)}", f"pass^{times} {_mean(pass_all, rates, times)}"]
    return [f"{sum(asked for _, asked in rates):,} answers to {cases}: {', '.join(chances)}"]


def _mean(chance: Callable[[int, int, int], float], rates: Sequence[tuple[int, int]], times: int) -> str:
    return f"{100 * fmean(chance(*rate, times) for rate in rates):.1f} %"


def _flaky(sampled: Sequence[Result], width: int) -> list[str]:
    flaky = sorted((result for result in sampled if result.flaky), key=_share)
    several = len({result.model for result in sampled}) > 1
    lines = [f"{len(flaky):,} flaky:"] if flaky else []
    lines += [head(f"  {_rate(result, several)}", width) for result in flaky[:_LISTED]]
    return [*lines, f"  and {len(flaky) - _LISTED:,} more"] if len(flaky) > _LISTED else lines


def _share(result: Result) -> float:
    right, asked = result.samples or (1, 1)
    return right / asked


def _rate(result: Result, several: bool) -> str:
    right, asked = result.samples or (0, 0)
    model = f" ({safe_line(result.model)})" if several else ""
    place = f"{safe_line(result.file)}:{result.line} {safe_line(result.case)}{model}"
    return f"{place} {right}/{asked} {accuracy_text(right, asked)} {interval_text(right, asked)}"


def _spared(sampled: Sequence[Result]) -> list[str]:
    open_ended = [(result.samples[1], result.most) for result in sampled if result.samples and result.most]
    if not open_ended:
        return []
    asked, most = (sum(numbers) for numbers in zip(*open_ended, strict=True))
    return [f"auto: {asked:,} of at most {most:,} answers decided"]
