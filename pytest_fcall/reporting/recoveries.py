"""Results that were faulty on purpose: how often models recovered from them, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytest_fcall.core.result_fault import TAG, RecoveryResult, fault_names
from pytest_fcall.reporting.number_text import accuracy_text, interval_text, plural_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_table import models_of, of_model
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import cut_end

_MOST_TOOLS = 10
_WAYS = {"retries": "by a repetition", "tells": "by telling of it", "other_tool": "by another tool"}


class RecoveryCounts(NamedTuple):
    """The faulty results of a group of results, answer by answer."""

    recovered: int
    reached: int
    lost: int
    """Those that did not get to the model."""
    unjudged: int
    """The number of cases with a fault that have no judged answer."""


class RecoveryRate(NamedTuple):
    """How often a model recovered from faults of one kind in results of one tool."""

    tool: str
    kind: str
    recovered: int
    reached: int
    """The number of answers in which the model got such a result."""


def recovery_counts(results: Sequence[Result]) -> RecoveryCounts:
    """Count the faulty results that were recovered from, that got to the model, and that did not."""
    found = [each for result in results for each in result.recoveries]
    reached = sum(bool(each.tools) for each in found)
    unjudged = sum(_is_unjudged(result) for result in results)
    return RecoveryCounts(sum(bool(each.how) for each in found), reached, len(found) - reached, unjudged)


def _is_unjudged(result: Result) -> bool:
    if result.category != TAG or result.recoveries or (result.status == "skipped" and not result.no_reply):
        return False
    return bool(fault_names(result.case))


def recovery_rates(results: Sequence[Result]) -> list[RecoveryRate]:
    """The rates by tool and kind, tool by tool, those first that were missed most."""
    found = [each for result in results for each in result.recoveries]
    reached = Counter((tool, each.kind) for each in found for tool in each.tools)
    recovered = Counter((tool, each.kind) for each in found if each.how for tool in each.tools)
    missed: Counter[str] = Counter()
    for (tool, kind), count in reached.items():
        missed[tool] += count - recovered[tool, kind]
    rates = [RecoveryRate(tool, kind, recovered[tool, kind], count) for (tool, kind), count in reached.items()]
    return sorted(rates, key=lambda rate: (-missed[rate.tool], rate.tool, rate.recovered / rate.reached, rate.kind))


def recovery_lines(results: Sequence[Result], width: int) -> list[str]:
    """For each model a line with the rate, one for the kinds, and one for each tool that it did not recover from."""
    return [
        line
        for model, faulty in _faulty_by_model(results)
        for line in (_rate_line(model, faulty), *_kind_line(faulty, width), *_tool_lines(faulty, width))
    ]


def recovery_titles(results: Sequence[Result]) -> list[str]:
    """The same without kinds and tools."""
    return [_rate_line(model, faulty) for model, faulty in _faulty_by_model(results)]


def _faulty_by_model(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    """The results of each model with a fault, behind its name, which is empty where there is only one."""
    faulty = [result for result in results if result.recoveries or _is_unjudged(result)]
    models = models_of(faulty)
    return [(model if len(models) > 1 else "", of_model(model, faulty)) for model in models]


def _rate_line(model: str, faulty: Sequence[Result]) -> str:
    counts = recovery_counts(faulty)
    ways = Counter(each.how for each in _recoveries(faulty) if each.how)
    rate = (
        f" ({accuracy_text(counts.recovered, counts.reached)} {interval_text(counts.recovered, counts.reached)})"
        if counts.reached
        else ""
    )
    title = f"{safe_line(model)}: " if model else ""
    how = ", ".join(f"{ways[way]:,} {text}" for way, text in _WAYS.items() if ways[way])
    said = f": {how}" if how else ""
    lost = f"; {counts.lost:,} more did not reach the model" if counts.lost else ""
    unjudged = f"; {plural_text(counts.unjudged, 'case')} with a fault not judged" if counts.unjudged else ""
    whole = plural_text(counts.reached, "faulty result")
    return f"{title}recovered from {counts.recovered:,} of {whole}{rate}{said}{lost}{unjudged}"


def _kind_line(faulty: Sequence[Result], width: int) -> Iterator[str]:
    """How often it recovered from each kind, where there are several and it did not from all."""
    found = [each for each in _recoveries(faulty) if each.tools]
    reached, recovered = Counter(each.kind for each in found), Counter(each.kind for each in found if each.how)
    if len(reached) > 1 and recovered != reached:
        kinds = (f"{safe_line(kind)} {recovered[kind]:,}/{count:,}" for kind, count in sorted(reached.items()))
        yield cut_end(f"  by kind: {', '.join(kinds)}", width)


def _tool_lines(faulty: Sequence[Result], width: int) -> Iterator[str]:
    """The tools with the faults that the model did not recover from, the most first."""
    missed: dict[str, list[str]] = {}
    for rate in recovery_rates(faulty):
        if count := rate.reached - rate.recovered:
            missed.setdefault(rate.tool, []).append(f"{safe_line(rate.kind)} {count:,}/{rate.reached:,}")
    for tool, kinds in [*missed.items()][:_MOST_TOOLS]:
        yield cut_end(f"  not from those of {safe_line(tool) or 'unnamed tools'}: {', '.join(kinds)}", width)
    if len(missed) > _MOST_TOOLS:
        yield f"  and {len(missed) - _MOST_TOOLS:,} more tools"


def _recoveries(results: Sequence[Result]) -> list[RecoveryResult]:
    return [each for result in results for each in result.recoveries]
