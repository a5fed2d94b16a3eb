"""A board in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcall.reporting.number_text import cost_text, percent_text, seconds_text
from pytest_fcall.reporting.reports.board.board import Board, RightShare, gap_text, pair_text
from pytest_fcall.reporting.reports.markdown import inline


def write(board: Board) -> Iterator[str]:
    """The lines of the board."""
    yield from (f"{line}\n" for line in _lines(board))


def _lines(board: Board) -> Iterator[str]:
    yield f"### fcall: {board.title}"
    yield ""
    yield from _ranking(board)
    if len(board.models) > 1:
        yield "**Neighbours**, over the cases that both have answered:"
        yield ""
        for better, worse, pair in board.neighbours():
            yield f"- {_whole(better.name)} before {_whole(worse.name)}: {pair_text(pair)}"
        yield ""
    if len(board.categories) > 1:
        yield from _categories(board)
    yield from _scores(board)
    if any(model.published for model in board.models):
        yield from _published(board)
    if board.remarks:
        yield from (f"- {_whole(remark)}" for remark in board.remarks)
        yield ""


def _ranking(board: Board) -> Iterator[str]:
    overall = board.is_by_overall
    yield from _head("", "model", *(["overall"] if overall else []), "right", "accuracy", "95 %", "cost", "p50", "p95")
    for place, model in enumerate(board.models, 1):
        whole, share = model.whole, model.share
        measured = cost_text(whole.cost, whole.unpriced), seconds_text(whole.p50), seconds_text(whole.p95)
        score = [percent_text(model.overall)] if overall else []
        yield _row(str(place), _whole(model.name), *score, share.count_text, *_rate(share), *measured)
    yield ""


def _categories(board: Board) -> Iterator[str]:
    yield from _head("category", *(_whole(model.name) for model in board.models))
    for category in board.categories:
        groups = [model.of_category(category) for model in board.models]
        yield _row(_whole(category), *(" ".join(_rate(group)) if group.cases else "" for group in groups))
    yield ""


def _scores(board: Board) -> Iterator[str]:
    titles = [*dict.fromkeys(figure.title for model in board.models for figure in model.figures)]
    if titles:
        yield from _head("score", *(_whole(model.name) for model in board.models))
        for title in titles:
            shares = [{figure.title: figure.share for figure in model.figures} for model in board.models]
            yield _row(_whole(title), *(percent_text(own.get(title)) for own in shares))
        yield ""


def _published(board: Board) -> Iterator[str]:
    yield from _head("model", "figure", "published", "here", "gap")
    for model in board.models:
        for each in model.published:
            figures = percent_text(each.published), percent_text(each.ours)
            yield _row(_whole(model.name), _whole(each.name), *figures, _whole(gap_text(each)))
    yield ""


def _rate(share: RightShare) -> tuple[str, str]:
    return share.accuracy_text, share.interval_text


def _whole(text: str) -> str:
    return inline(text, 1000)


def _head(*titles: str) -> Iterator[str]:
    yield _row(*titles)
    yield f"|{'---|' * len(titles)}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
