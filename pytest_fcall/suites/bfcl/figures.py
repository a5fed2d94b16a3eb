"""The leaderboard's weighted scores, and the spread of accuracy over prompt formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev, variance
from typing import Final, TypeAlias

from pytest_fcall.core.extension import Figure
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.prompt_formats import FORMATS, format_of


def max_delta(shares: Sequence[float]) -> float:
    """The best less the worst."""
    return max(shares) - min(shares) if len(shares) > 1 else 0.0


def standard_deviation(shares: Sequence[float]) -> float:
    """Their standard deviation, as that of a sample."""
    return stdev(shares) if len(shares) > 1 else 0.0


def format_scores_header(judged: Iterable[tuple[str, bool]]) -> dict[str, Json]:
    """What the head of a file of scores says of cases, given by id and whether they are right."""
    by_format: dict[str, list[bool]] = {}
    for id_, valid in judged:
        by_format.setdefault(format_of(id_).config, []).append(valid)
    shares = [sum(own) / len(own) for own in by_format.values()]
    return {
        "accuracy_max_delta": round(max_delta(shares) * 100, 2),
        "accuracy_variance": round(variance(shares) * 100**2, 2) if len(shares) > 1 else 0.0,
        "accuracy_std": round(standard_deviation(shares) * 100, 2),
        **{
            config: {"accuracy": sum(own) / len(own), "correct_count": sum(own), "total_count": len(own)}
            for config, own in by_format.items()
        },
    }


Tallies: TypeAlias = Mapping[str, tuple[int, int]]
"""By category, how many of how many answers are right."""

_SIMPLE = ("simple_python", "simple_java", "simple_javascript")
_SEVERAL = ("multiple", "parallel", "parallel_multiple")
_LIVE = {"live_simple": 258, "live_multiple": 1053, "live_parallel": 16, "live_parallel_multiple": 24}
"""With their sizes, by which they are weighted where they were not asked, too."""
_IRRELEVANCE = ("irrelevance", "live_irrelevance")
_MULTI_TURN = ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")
_WEB_SEARCH = ("web_search_base", "web_search_no_snippet")
_MEMORY = ("memory_kv", "memory_vector", "memory_rec_sum")

_CATEGORIES_OF: Mapping[str, tuple[str, ...]] = {
    "non_live_ast": (*_SIMPLE, *_SEVERAL),
    "live": tuple(_LIVE),
    "irrelevance": _IRRELEVANCE,
    "multi_turn": _MULTI_TURN,
    "agentic": (*_WEB_SEARCH, *_MEMORY),
}
MAX_DELTA: Final = "format_max_delta"
DEVIATION: Final = "format_std"
_WEIGHTS = {"non_live_ast": 0.1, "live": 0.1, "irrelevance": 0.1, "multi_turn": 0.3, "agentic": 0.4}
_OVERALL = "overall"

FIGURES = (*_CATEGORIES_OF, _OVERALL, MAX_DELTA, DEVIATION)
"""Their names."""


def leaderboard_figures(tallies: Tallies) -> list[Figure]:
    """Work out the scores that these categories have a part in.

    One that lacks a category is None. The overall accuracy counts what was not asked as wrong, as the leaderboard
    does: 10 % each for non-live calls, live calls and irrelevance, 30 % for several turns, 40 % for agents.
    """
    shares = _shares(tallies)
    asked = {name for name, (_, number) in tallies.items() if number}
    told = [
        Figure(name, shares[name] if asked.issuperset(names) else None)
        for name, names in _CATEGORIES_OF.items()
        if asked.intersection(names)
    ]
    overall = sum(weight * shares[name] for name, weight in _WEIGHTS.items())
    weighted = [*told, Figure(_OVERALL, overall, note="not asked: wrong")] if told else []
    return [*weighted, *_format_figures(tallies)]


def _format_figures(tallies: Tallies) -> list[Figure]:
    """How far the formats lie apart; None unless each of them was asked."""
    asked = [tallies[form.category] for form in FORMATS if form.category in tallies]
    shares = [right / number for right, number in asked if number]
    if not asked:
        return []
    known = len(shares) == len(FORMATS)
    return [
        Figure(MAX_DELTA, max_delta(shares) if known else None),
        Figure(DEVIATION, standard_deviation(shares) if known else None),
    ]


def _shares(tallies: Tallies) -> Mapping[str, float]:
    """All scores; a category that was not asked is all wrong. Only live calls are weighted by their number."""

    def mean(*names: str) -> float:
        return fmean(
            right / number if number else 0.0 for right, number in (tallies.get(name, (0, 0)) for name in names)
        )

    live = [tallies.get(name) or (0, size) for name, size in _LIVE.items()]
    return {
        "non_live_ast": fmean([mean(*_SIMPLE), *map(mean, _SEVERAL)]),
        "live": sum(right for right, _ in live) / max(sum(number for _, number in live), 1),
        "irrelevance": mean(*_IRRELEVANCE),
        "multi_turn": mean(*_MULTI_TURN),
        "agentic": fmean([mean(*_WEB_SEARCH), mean(*_MEMORY)]),
    }
