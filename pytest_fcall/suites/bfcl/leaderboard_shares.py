"""The figures in the leaderboard's tables, by its own arithmetic: in another order, sums differ in their last bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from pytest_fcall.suites.bfcl.categories import CATEGORIES, GROUPS

Tallies: TypeAlias = Mapping[str, tuple[int, int]]
"""The number of right answers and of all answers, by category."""

SIMPLE: Final = ("simple_python", "simple_java", "simple_javascript")
SEVERAL: Final = ("multiple", "parallel", "parallel_multiple")
LIVE_SIZES: Final = {"live_simple": 258, "live_multiple": 1053, "live_parallel": 16, "live_parallel_multiple": 24}
"""The sizes of the live categories, which weight a category that was not asked."""
_WEIGHTS: Final = (10, 10, 10, 30, 40)


class Share(NamedTuple):
    """A share of right answers. What was not asked counts as wrong."""

    value: float
    size: int
    is_whole: bool
    """Whether all categories in it were asked."""

    @property
    def known(self) -> float | None:
        """The share; None where a category was not asked."""
        return self.value if self.is_whole else None


class LeaderboardShares(NamedTuple):
    """The shares of a model."""

    categories: Mapping[str, Share]
    simple: Share
    non_live: Share
    live: Share
    irrelevance: Share
    multi_turn: Share
    web_search: Share
    memory: Share
    agentic: Share
    overall: Share


def leaderboard_shares(tallies: Tallies) -> LeaderboardShares:
    """Compute the shares.

    Of single requests, live calls alone count by their number; in all else categories count alike. The overall share
    is made of 10 % each of non-live calls, live calls and irrelevance, 30 % several turns, and 40 % agents.
    """
    known = category_shares(tallies)

    def mean_of(names: tuple[str, ...]) -> Share:
        return mean(*(known[name] for name in names))

    simple = mean_of(SIMPLE)
    non_live = mean(simple, *(known[name] for name in SEVERAL))
    live = mean_by_size(*(known[name] for name in LIVE_SIZES))
    irrelevance = mean_of(("irrelevance", "live_irrelevance"))
    multi_turn = mean_of(GROUPS["multi_turn"])
    web_search, memory = mean_of(GROUPS["web_search"]), mean_of(GROUPS["memory"])
    agentic = mean(web_search, memory)
    overall = _weighted(non_live, live, irrelevance, multi_turn, agentic)
    return LeaderboardShares(
        known, simple, non_live, live, irrelevance, multi_turn, web_search, memory, agentic, overall
    )


def category_shares(tallies: Tallies) -> Mapping[str, Share]:
    """Return the share of each category."""
    return {name: _share(name, tallies) for name in CATEGORIES}


def _share(category: str, tallies: Tallies) -> Share:
    right, asked = tallies.get(category, (0, 0))
    return Share(right / asked, asked, True) if asked else Share(0, LIVE_SIZES.get(category, 0), False)


def mean(*shares: Share) -> Share:
    """Return the mean of shares."""
    total = 0.0
    for share in shares:  # sum() rounds otherwise from Python 3.12 on
        total += share.value
    return _together(shares, total / len(shares))


def mean_by_size(*shares: Share) -> Share:
    """Return the mean of shares, each by its number of answers; 0 if nothing was asked."""
    total = 0.0
    for share in shares:
        total += share.value * share.size
    return _together(shares, total / max(sum(share.size for share in shares), 1))


def _weighted(*shares: Share) -> Share:
    total = 0.0
    for share, weight in zip(shares, _WEIGHTS, strict=True):
        total += share.value * (weight / sum(_WEIGHTS))
    return _together(shares, total)


def _together(shares: tuple[Share, ...], value: float) -> Share:
    return Share(value, sum(share.size for share in shares), all(share.is_whole for share in shares))
