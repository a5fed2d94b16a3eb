"""Results that were faulty on purpose: how often models recovered from them, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_fcall.core.result_fault import RecoveryResult
from pytest_fcall.reporting.number_text import accuracy_text, interval_text, plural_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_table import models_of, of_model
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import cut_end

_MOST_TOOLS = 10
_WAYS = {"retries": "by a repetition", "tells": "by telling of it", "other_tool": "by another tool"}


def recovery_lines(results: Sequence[Result], width: int) -> list[str]:
    """For each model a line with the rate, and a line for each tool whose faults it did not recover from."""
    faulty = [result for result in results if result.recoveries]
    models = models_of(faulty)
    lines: list[str] = []
    for model in models:
        found = [each for result in of_model(model, faulty) for each in result.recoveries]
        lines += [_rate_line(model if len(models) > 1 else "", found), *_tool_lines(found, width)]
    return lines


def _rate_line(model: str, found: Sequence[RecoveryResult]) -> str:
    reached = [each for each in found if each.tools]
    ways = Counter(each.how for each in reached if each.how)
    recovered = ways.total()
    title = f"{safe_line(model)}: " if model else ""
    rate = f" ({accuracy_text(recovered, len(reached))} {interval_text(recovered, len(reached))})" if reached else ""
    how = ", ".join(f"{ways[way]:,} {text}" for way, text in _WAYS.items() if ways[way])
    lost = len(found) - len(reached)
    more = f"; {lost:,} more did not reach the model" if lost else ""
    said = f": {how}" if how else ""
    return f"{title}recovered from {recovered:,} of {plural_text(len(reached), 'faulty result')}{rate}{said}{more}"


def _tool_lines(found: Sequence[RecoveryResult], width: int) -> Iterator[str]:
    """The tools with the faults that the model did not recover from, the most first."""
    reached = Counter((tool, each.kind) for each in found for tool in each.tools)
    missed = Counter((tool, each.kind) for each in found if not each.how for tool in each.tools)
    tools = sorted({tool for tool, _ in missed}, key=lambda tool: (-_count(missed, tool), tool))
    for tool in tools[:_MOST_TOOLS]:
        kinds = [
            f"{safe_line(kind)} {count}/{reached[tool, kind]}"
            for (other, kind), count in sorted(missed.items())
            if other == tool
        ]
        yield cut_end(f"  not from those of {safe_line(tool) or 'unnamed tools'}: {', '.join(kinds)}", width)
    if len(tools) > _MOST_TOOLS:
        yield f"  and {len(tools) - _MOST_TOOLS:,} more tools"


def _count(missed: Counter[tuple[str, str]], tool: str) -> int:
    return sum(count for (other, _), count in missed.items() if other == tool)
