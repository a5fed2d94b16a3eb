"""A board: models in the order of their accuracy, and which differ by more than chance. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_fcall.core.extension import Figure
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.number_text import (
    accuracy_text,
    cost_text,
    interval_text,
    p_equation_text,
    percent_text,
    points_text,
    seconds_text,
)
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_comparison import ModelPair
from pytest_fcall.reporting.safe_text import whole_line
from pytest_fcall.reporting.statistics import Statistics, share_right, statistics_of, wilson_interval
from pytest_fcall.reporting.terminal import table_lines


class PublishedFigure(NamedTuple):
    """A figure that others have published, beside ours."""

    name: str
    published: float
    ours: float
    note: str
    """The reason why they differ, where it is known."""

    @property
    def gap(self) -> float:
        """Ours less the published one."""
        return self.ours - self.published


class RightShare(NamedTuple):
    """The right answers to a number of cases. One with several answers is as right as they are: by their share."""

    right: float
    cases: int

    @property
    def value(self) -> float | None:
        """The share; None without a case."""
        return self.right / self.cases if self.cases else None

    @property
    def count_text(self) -> str:
        """Write `27/30`, or `27.3/30` where cases have several answers."""
        return f"{self.right:,.1f}".removesuffix(".0") + f"/{self.cases:,}"

    @property
    def accuracy_text(self) -> str:
        """Write `90.0 %`."""
        return accuracy_text(self.right, self.cases)

    @property
    def interval_text(self) -> str:
        """Write `[74, 97]`."""
        return interval_text(self.right, self.cases)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        return wilson_interval(self.right, self.cases)


def share_of(results: Iterable[Result]) -> RightShare:
    """The share of right answers to those of these cases that were answered."""
    shares = [share_right(result) for result in results if result.answered]
    return RightShare(sum(shares, 0.0), len(shares))


@dataclass(frozen=True, slots=True)
class BoardModel:
    """A model, and what its answers come to."""

    name: str
    results: Sequence[Result]
    figures: Sequence[Figure] = ()
    """The scores of the suite."""
    published: Sequence[PublishedFigure] = ()

    @property
    def whole(self) -> Statistics:
        """The counts and measurements of all cases together."""
        return statistics_of(self.results)

    @property
    def share(self) -> RightShare:
        """The share of right answers to all cases."""
        return share_of(self.results)

    @property
    def overall(self) -> float | None:
        """The overall score of the suite; None where it has none."""
        return next((each.share for each in self.figures if each.name == "overall"), None)

    def of_category(self, name: str) -> RightShare:
        """The share of right answers to the cases of a category."""
        return share_of(self.results_of(name))

    def results_of(self, category: str) -> Sequence[Result]:
        """The results of a category."""
        return [result for result in self.results if result.category == category]


@dataclass(frozen=True, slots=True)
class Board:
    """Models, best first, and what is known of the differences between neighbours."""

    models: Sequence[BoardModel]
    categories: Sequence[str]
    pairs: Mapping[tuple[str, str], ModelPair] = field(default_factory=dict)
    """Neighbours that answered some of the same cases: the better one first."""
    is_by_overall: bool = False
    """Whether the overall score of the suite decides the order, and not the share of right answers."""
    remarks: Sequence[str] = ()
    """Things that are not on the board, in sentences."""

    @property
    def title(self) -> str:
        """The subject of the comparison, in a few words."""
        kinds = plural_text(len(self.categories), "category", "categories")
        return f"{plural_text(len(self.models), 'model')}, {kinds}"

    def neighbours(self) -> Iterator[tuple[BoardModel, BoardModel, ModelPair | None]]:
        """Each model with the next one."""
        for better, worse in zip(self.models, self.models[1:], strict=False):
            yield better, worse, self.pairs.get((better.name, worse.name))


def pair_text(pair: ModelPair | None) -> str:
    """The difference between two neighbours, on the cases that they have in common."""
    if pair is None:
        return "no case in common: only the intervals tell"
    group = pair.group
    low, high = (points_text(each) for each in group.interval)
    figures = f"{points_text(group.difference)} points [{low}, {high}] over {plural_text(group.cases, 'common case')}"
    kind = "hardly chance" if group.is_significant else "chance may explain it"
    return f"{figures}, {p_equation_text(group.p_value)}: {kind}"


def gap_text(figure: PublishedFigure) -> str:
    """The difference from a published figure, with its reason where it is known."""
    same = percent_text(figure.ours) == percent_text(figure.published)
    gap = "the same" if same else f"{100 * figure.gap:+.2f} points"
    return f"{gap}: {figure.note}" if figure.note and not same else gap


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
