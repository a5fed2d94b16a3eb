"""The requests that a run would send, with the expected tokens and costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.reply import Usage, known_sum
from pytest_fcall.reporting.number_text import cost_text, count_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import table_lines

_TITLES = ("would be sent", "requests", "input", "output", "cost")


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """A case that its model would answer, with expected tokens and cost, or that a recording answers."""

    model: str
    file: str
    case: str
    usage: Usage
    cost: float | None = None
    """In US dollars; None if the price is unknown."""
    recorded: bool = False
    begins: bool = False
    """Whether it is the first request of a conversation; later ones depend on the reply."""


def dry_run_lines(plan: Sequence[PlannedRequest], width: int = 100) -> list[str]:
    """A table of the requests by model, file and case, without those that recordings answer, and the last line."""
    rows = [
        row for model, asked in _grouped(_asked(plan), lambda each: each.model) for row in _model_rows(model, asked)
    ]
    return [*(table_lines(_TITLES, rows, texts=1, width=width) if rows else []), dry_run_line(plan)]


def dry_run_line(plan: Sequence[PlannedRequest]) -> str:
    """The plan in one line."""
    asked = _asked(plan)
    parts = [f"{plural_text(len(asked), 'request')} would be sent"]
    if asked:
        _, _, input_tokens, output_tokens, cost = _row("", asked)
        parts.append(f"about {input_tokens} tokens in and {output_tokens} out")
        parts.append(f"about {cost}" if cost else "cost unknown")
    if begun := sum(each.begins for each in asked):
        parts.append(f"and more for {plural_text(begun, 'conversation')} of several steps")
    if recorded := len(plan) - len(asked):
        parts.append(f"{recorded:,} answered by recordings")
    return f"fcall: {', '.join(parts)}; nothing was sent"


def _asked(plan: Sequence[PlannedRequest]) -> list[PlannedRequest]:
    return [each for each in plan if not each.recorded]


def _grouped(
    plan: Sequence[PlannedRequest], name: Callable[[PlannedRequest], str]
) -> Iterable[tuple[str, list[PlannedRequest]]]:
    groups: dict[str, list[PlannedRequest]] = {}
    for each in plan:
        groups.setdefault(name(each), []).append(each)
    return groups.items()


def _model_rows(model: str, asked: Sequence[PlannedRequest]) -> Iterator[list[str]]:
    yield _row(model, asked)
    for file, cases in _grouped(asked, lambda each: each.file):
        yield _row(file, cases, "  ")
        for each in cases:
            yield _row(each.case, [each], "    ")


def _row(name: str, asked: Sequence[PlannedRequest], indent: str = "") -> list[str]:
    return [
        indent + safe_line(name),
        count_text(len(asked)),
        count_text(known_sum(each.usage.input_tokens for each in asked)),
        count_text(known_sum(each.usage.output_tokens for each in asked)),
        cost_text(known_sum(each.cost for each in asked), sum(each.cost is None for each in asked)),
    ]
