"""Tools that were called instead of the expected ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pytest_fcall.core.expectation import Expectation, chosen_alternative
from pytest_fcall.core.reply import Call
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import cut_middle, table_lines

_PAIRS = 5
_TOOLS = 12
"""At most so many pairs and tools are shown: the others are rare."""
_NONE = "(none)"
_CONFUSION = "`{}` called for `{}`"
_SHORTEST = 10


def tool_pairs(expectation: Expectation | None, calls: Sequence[Call], verdict: Verdict) -> list[tuple[str, str]]:
    """Each expected tool with the one called for it. An empty name stands for a missing or an unexpected call."""
    if expectation is None or verdict.valid:
        return [(call.name, call.name) for call in calls]
    from pytest_fcall.reporting.call_pairs import pair_calls

    found = pair_calls(chosen_alternative(expectation, verdict.alternative), calls, verdict)
    both = [(pair.expected.tool, pair.called.name) for pair in found if pair.expected and pair.called]
    missing = [pair.expected.tool for pair in found if pair.expected and pair.called is None]
    extra = [pair.called.name for pair in found if pair.called and pair.expected is None and pair.reasons]
    if len(missing) == len(extra) == 1:
        return [*both, (missing[0], extra[0])]
    return [*both, *((name, "") for name in missing), *(("", name) for name in extra)]


def confusion_counts(results: Iterable[Result]) -> Counter[tuple[str, str]]:
    """The frequency of each pair of an expected and a called tool."""
    return Counter(pair for result in results for pair in result.called)


def mixed_up_lines(results: Sequence[Result], width: int = 100) -> list[str]:
    """A line for each pair of confused tools, the most frequent first."""
    counts = confusion_counts(results)
    lines = []
    for expected, called in mixed_up_pairs(counts)[:_PAIRS]:
        number = counts[expected, called]
        of = sum(each for pair, each in counts.items() if pair[0] == expected)
        back = f"; the other way round {counts[called, expected]:,}" if counts[called, expected] else ""
        counted = f", {number:,} of {of:,} times{back}"
        lines.append(f"mixed up: {confusion_text(expected, called, width - len('mixed up: ') - len(counted))}{counted}")
    return lines


def mixed_up_pairs(counts: Counter[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs of two tools that were confused, most frequent first, each in the way that is more frequent."""
    wrong: dict[tuple[str, str], None] = {}
    for (expected, called), _ in counts.most_common():
        if expected and called and expected != called and (called, expected) not in wrong:
            wrong[expected, called] = None
    return [*wrong]


def most_confused(counts: Counter[tuple[str, str]], most: int) -> list[str]:
    """The tools that were called for others, or others for them, the most frequent first."""
    wrong = Counter[str]()
    for (expected, called), number in counts.items():
        if expected != called:
            wrong.update({expected: number, called: number})
    return [name for name, _ in wrong.most_common(most) if name]


def confusion_lines(results: Sequence[Result], width: int = 100) -> list[str]:
    """A table of expected and called tools, with the tools that were confused; no lines without any."""
    counts = confusion_counts(results)
    names = most_confused(counts, _TOOLS)
    if not names:
        return []
    rows = [
        [safe_line(row or _NONE), *(_cell_text(counts[row, column]) for column in (*names, ""))] for row in (*names, "")
    ]
    filled = [row for row in rows if any(row[1:])]
    return table_lines(("expected \\ called", *map(safe_line, names), _NONE), filled, texts=1, width=width)


def confusion_text(expected: str, called: str, width: int = 200) -> str:
    """Write which tool was called for which; long names are cut to fit into `width`."""
    room = max((width - len(_CONFUSION.format("", ""))) // 2, _SHORTEST)
    return _CONFUSION.format(*(cut_middle(safe_line(name), room) for name in (called, expected)))


def _cell_text(number: int) -> str:
    return f"{number:,}" if number else ""
