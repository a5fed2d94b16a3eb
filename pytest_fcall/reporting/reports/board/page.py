"""A board as a page, which needs no script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from markupsafe import Markup

from pytest_fcall.reporting.number_text import cost_text, percent_text, seconds_text
from pytest_fcall.reporting.reports.board.board import Board, BoardModel, RightShare, gap_text, pair_text
from pytest_fcall.reporting.reports.html_file import STYLE, HtmlFile
from pytest_fcall.reporting.reports.page.charts import COLOURS, ChartSeries, bar, radar
from pytest_fcall.reporting.safe_text import whole_line

_FOLDER: Final = Path(__file__).parent


class _RankRow(NamedTuple):
    """The figures of a model."""

    name: str
    overall: str
    right: str
    accuracy: str
    interval: str
    bar: Markup
    cost: str
    p50: str
    p95: str


class AccuracyCell(NamedTuple):
    """The accuracy of a model in a category; empty where it answered nothing."""

    accuracy: str = ""
    interval: str = ""
    bar: Markup = Markup()


class _PublishedRow(NamedTuple):
    """A published figure beside ours."""

    model: str
    is_first: bool
    """Whether it is the first one of the model."""
    name: str
    published: str
    ours: str
    gap: str


def write(board: Board) -> Iterator[str]:
    """The text of the page."""
    yield from HtmlFile(_FOLDER / "board.html.jinja", [STYLE, _FOLDER / "board.css"], []).text(
        title=f"fcall: {board.title}",
        heading=board.title,
        models=[whole_line(model.name) for model in board.models],
        by_overall=board.is_by_overall,
        measured=any(model.whole.cost is not None or model.whole.p50 is not None for model in board.models),
        ranks=[_rank(model, place) for place, model in enumerate(board.models)],
        neighbours=[
            (whole_line(better.name), whole_line(worse.name), pair_text(pair), bool(pair and pair.group.is_significant))
            for better, worse, pair in board.neighbours()
        ],
        radar=Markup(_radar(board)),  # noqa: S704  # its labels are escaped
        on_radar=min(len(board.models), COLOURS),
        categories=[
            (whole_line(name), [_cell(model.of_category(name), place) for place, model in enumerate(board.models)])
            for name in board.categories
        ],
        scores=[*_scores(board)],
        published=[
            _PublishedRow(
                whole_line(model.name),
                not number,
                whole_line(each.name),
                percent_text(each.published),
                percent_text(each.ours),
                whole_line(gap_text(each)),
            )
            for model in board.models
            for number, each in enumerate(model.published)
        ],
        remarks=[whole_line(remark) for remark in board.remarks],
    )


def _rank(model: BoardModel, place: int) -> _RankRow:
    whole, share = model.whole, model.share
    return _RankRow(
        whole_line(model.name),
        percent_text(model.overall),
        share.count_text,
        *_cell(share, place),
        cost_text(whole.cost, whole.unpriced),
        seconds_text(whole.p50),
        seconds_text(whole.p95),
    )


def _cell(share: RightShare, place: int) -> AccuracyCell:
    if share.value is None:
        return AccuracyCell()
    drawn = bar(share.value, *share.interval, place)
    return AccuracyCell(share.accuracy_text, share.interval_text, Markup(drawn))  # noqa: S704  # numbers alone


def _radar(board: Board) -> str:
    """The categories of the best models."""
    series = [
        ChartSeries(whole_line(model.name), [model.of_category(name).value for name in board.categories])
        for model in board.models[:COLOURS]
    ]
    return radar([whole_line(name) for name in board.categories], series)


def _scores(board: Board) -> Iterator[tuple[str, list[str]]]:
    shares = [{figure.title: figure.share for figure in model.figures} for model in board.models]
    for title in dict.fromkeys(figure.title for model in board.models for figure in model.figures):
        yield whole_line(title), [percent_text(own.get(title)) for own in shares]
