"""A board as a table in CSV: a row for each model and category, and for each score of a suite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pytest_fcall.reporting.reports.board.board import Board, BoardModel, gap_text, share_of
from pytest_fcall.reporting.reports.rows import csv_line
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.statistics import statistics_of

_COLUMNS: Final = (
    *("rank", "model", "kind", "name", "right", "answered", "share", "low", "high", "cost", "p50", "p95"),
    *("published", "gap"),
)


def write(board: Board) -> Iterator[str]:
    """The table, line by line: of `all` cases, of a `category`, of a `score`, or of what is `published`."""
    yield csv_line(_COLUMNS)
    for rank, model in enumerate(board.models, 1):
        yield from (csv_line([rank, model.name, *cells]) for cells in _rows(board, model))


def _rows(board: Board, model: BoardModel) -> Iterator[list[object]]:
    yield ["all", "", *_cells(model.results)]
    for category in board.categories:
        if model.of_category(category).cases:
            yield ["category", category, *_cells(model.results_of(category))]
    for figure in model.figures:
        yield ["score", figure.title, "", "", figure.share, *[""] * 7]
    for each in model.published:
        yield ["published", each.name, "", "", each.ours, *[""] * 5, each.published, gap_text(each)]


def _cells(results: Sequence[Result]) -> list[object]:
    measured, share = statistics_of(results), share_of(results)
    value = "" if share.value is None else share.value
    counts = int(share.right) if share.right.is_integer() else share.right, share.cases
    return [*counts, value, *share.interval, measured.cost, measured.p50, measured.p95, "", ""]
