"""A board on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcall.reporting.number_text import cost_text, percent_text, seconds_text
from pytest_fcall.reporting.reports.board.board import Board, gap_text, pair_text
from pytest_fcall.reporting.safe_text import whole_line
from pytest_fcall.reporting.terminal import table_lines


def board_lines(board: Board, width: int) -> Iterator[str]:
    """The ranking, its neighbours, the categories, the published figures, and what is not on the board."""
    yield from _ranking(board, width)
    for better, worse, pair in board.neighbours():
        yield f"{whole_line(better.name)} before {whole_line(worse.name)}: {pair_text(pair)}"
    if len(board.categories) > 1:
        yield ""
        yield from _categories(board, width)
    rows = [
        [
            whole_line(model.name),
            whole_line(each.name),
            percent_text(each.published),
            percent_text(each.ours),
            gap_text(each),
        ]
        for model in board.models
        for each in model.published
    ]
    if rows:
        yield ""
        yield from table_lines(("model", "figure", "published", "here", "gap"), rows, 2, width)
    yield from map(whole_line, board.remarks)


def _ranking(board: Board, width: int) -> Iterator[str]:
    rows = []
    for model in board.models:
        whole, share = model.whole, model.share
        rows.append(
            [
                whole_line(model.name),
                percent_text(model.overall) if board.is_by_overall else "",
                share.count_text,
                share.accuracy_text,
                share.interval_text,
                cost_text(whole.cost, whole.unpriced),
                seconds_text(whole.p50),
                seconds_text(whole.p95),
            ]
        )
    yield from table_lines(("model", "overall", "right", "accuracy", "95 %", "cost", "p50", "p95"), rows, 1, width)


def _categories(board: Board, width: int) -> Iterator[str]:
    """A row for each model in each category, as many models as there are fit no line."""
    rows = []
    for category in board.categories:
        title = whole_line(category)
        for model in board.models:
            if (share := model.of_category(category)).cases:
                figures = share.count_text, share.accuracy_text, share.interval_text
                rows.append([title, whole_line(model.name), *figures])
                title = ""
    yield from table_lines(("category", "model", "right", "accuracy", "95 %"), rows, 2, width)
