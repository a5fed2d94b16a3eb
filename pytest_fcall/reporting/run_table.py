"""Tables of a run: its models, with the categories, files and tags where something is wrong; and cases by model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

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
from pytest_fcall.reporting.terminal import Marks, column_count, common_start, cut_end, cut_middle, pad, table_lines

_TITLES = ("right", "accuracy", "95 %", "errors", "cost", "p50", "p95", "max", "tokens", "tok/s")
_MOST_GROUPS = 5
"""At most so many files, and so many tags, those with the most wrong answers."""
_GAP: Final = "  "
_LEAST_CUT: Final = 12
"""A common beginning of fewer characters is left as it is."""
_KEPT: Final = 6
"""So many characters before the first difference are shown."""


def run_table(results: Sequence[Result], width: int = 100) -> list[str]:
    """The models; a single row is left out, as the last line of the summary has the same figures."""
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


class Cell(NamedTuple):
    """The result of one model for a case, in safe text. `right` is None where there is no verdict."""

    right: bool | None
    text: str


class CaseRow(NamedTuple):
    """A case, by the models that were asked."""

    case: str
    cells: Mapping[str, Cell]


def case_table(rows: Sequence[CaseRow], models: Sequence[str], width: int, marks: Marks) -> list[str]:
    """The rows in at most `width` columns: the case takes at most a third, the models share the rest."""
    first = min(max(column_count(row.case) for row in rows), width // 3)
    room = max((width - first) // len(models) - len(_GAP), 1)
    lines = [
        ["", *(f"  {model}" for model in models)],
        *([row.case, *_cell_texts([row.cells.get(model) for model in models], room, marks)] for row in rows),
    ]
    wanted = (max(column_count(line[place]) for line in lines) for place in range(1, len(models) + 1))
    widths = [first, *(min(each, room) for each in wanted)]
    return [_case_line(line, widths, marks) for line in lines]


def _case_line(cells: Sequence[str], widths: Sequence[int], marks: Marks) -> str:
    title, *answers = zip(cells, widths, strict=True)
    shown = [cut_middle(*title, marks.cut), *(cut_end(*answer, marks.cut) for answer in answers)]
    return _GAP.join(pad(cell, width) for cell, width in zip(shown, widths, strict=True)).rstrip()


def _cell_texts(cells: Sequence[Cell | None], room: int, marks: Marks) -> Iterator[str]:
    """The cells of a row. Where one does not fit and all begin alike, they are shown from where they differ."""
    texts = [cell.text for cell in cells if cell]
    common = common_start(texts) if len(texts) > 1 else 0
    is_cut = common > _LEAST_CUT and max(map(column_count, texts)) > room - 2
    for cell in cells:
        if cell is None:
            yield ""
            continue
        mark = " " if cell.right is None else marks.right if cell.right else marks.wrong
        yield f"{mark} {marks.cut + cell.text[common - _KEPT :] if is_cut else cell.text}"
