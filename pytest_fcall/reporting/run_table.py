"""The table of a run: a row a model, and below it rows for categories, files and tags where something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from pytest_fcall.reporting.number_text import (
    accuracy_text,
    cost_text,
    count_text,
    interval_text,
    seconds_text,
    speed_text,
)
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.statistics import Statistics, statistics_of
from pytest_fcall.reporting.terminal import table_lines

_TITLES = ("right", "accuracy", "95 %", "errors", "cost", "p50", "p95", "max", "tokens", "tok/s")
_MOST_GROUPS = 5
"""At most so many files, and so many tags, those with the most wrong answers."""


def run_table(results: Sequence[Result], width: int = 100) -> list[str]:
    """The table; a single row is left out, as the last line of the summary has the same figures."""
    rows = [row for model in models_of(results) for row in _model_rows(model, of_model(model, results))]
    return table_lines(("model", "cases", *_TITLES), rows, texts=2, width=width) if len(rows) > 1 else []


def file_table(results: Results, width: int = 100) -> list[str]:
    """A table by model and file."""
    rows: list[list[str]] = []
    for model in models_of(results.results):
        own = of_model(model, results.results)
        rows += _rows(model, own, _grouped(own, lambda result: [result.file]))
    return table_lines(("model", "file", *_TITLES), rows, texts=2, width=width)


def models_of(results: Iterable[Result]) -> list[str]:
    """The models in order of appearance, without the empty name that results of faulty case files have."""
    return list(dict.fromkeys(result.model for result in results if result.model))


def of_model(model: str, results: Iterable[Result]) -> list[Result]:
    """The results of one model."""
    return [result for result in results if result.model == model]


def _model_rows(model: str, own: Sequence[Result]) -> list[list[str]]:
    """A row for all cases, and if some are wrong, rows for all categories, and for the worst files and tags."""
    if statistics_of(own).is_clean:
        return _rows(model, own, {})
    categories = _grouped(own, lambda result: [result.category])
    groupings = [
        {"": own},
        categories,
        _grouped(own, lambda result: [result.file]),
        _grouped(own, lambda result: [f"tag {tag}" for tag in result.tags]),
    ]
    groups: dict[str, Sequence[Result]] = {}
    known: set[Hashable] = set()
    for grouping in groupings:
        new = {name: group for name, group in grouping.items() if _members(group) not in known}
        known.update(map(_members, grouping.values()))
        groups |= new if grouping is categories else _worst(new)
    groups.pop("", None)
    return _rows(model, own, groups)


def _members(group: Iterable[Result]) -> Hashable:
    return frozenset(result.nodeid for result in group)


def _worst(groups: Mapping[str, Sequence[Result]]) -> dict[str, Sequence[Result]]:
    """The groups with the most wrong answers and errors; groups without any are left out."""
    shortfalls = {name: sum(map(_is_shortfall, group)) for name, group in groups.items()}
    worst = sorted((name for name in groups if shortfalls[name]), key=lambda name: -shortfalls[name])
    return {name: groups[name] for name in worst[:_MOST_GROUPS]}


def _is_shortfall(result: Result) -> bool:
    return not result.right and result.status != "skipped"


def _grouped(results: Iterable[Result], names: Callable[[Result], Iterable[str]]) -> dict[str, Sequence[Result]]:
    groups: dict[str, list[Result]] = {}
    for result in results:
        for name in names(result):
            groups.setdefault(name, []).append(result)
    return {**groups}


def _rows(model: str, results: Sequence[Result], groups: Mapping[str, Sequence[Result]]) -> list[list[str]]:
    return [
        _row(safe_line(model), "all", statistics_of(results)),
        *(_row("", safe_line(name), statistics_of(group)) for name, group in groups.items()),
    ]


def _row(model: str, name: str, group: Statistics) -> list[str]:
    return [
        model,
        name,
        f"{group.right:,}/{group.answered:,}",
        accuracy_text(group.right, group.answered),
        interval_text(group.right, group.answered),
        count_text(group.errors or None),
        cost_text(group.cost, group.unpriced),
        seconds_text(group.p50),
        seconds_text(group.p95),
        seconds_text(group.slowest),
        count_text(group.tokens),
        speed_text(group.speed),
    ]
