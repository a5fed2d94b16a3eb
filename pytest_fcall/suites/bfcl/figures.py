"""The leaderboard's weighted scores, and the spread of the accuracy over prompt formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from statistics import NormalDist, fmean, stdev, variance
from typing import Final, TypeAlias

from pytest_fcall.core.extension import Figure
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.categories import DISGUISED, GROUPS
from pytest_fcall.suites.bfcl.prompt_formats import FORMATS, format_of

Tallies: TypeAlias = Mapping[str, tuple[int, int]]
"""The number of right answers and of all answers, by category."""

SIMPLE: Final = ("simple_python", "simple_java", "simple_javascript")
_SEVERAL = ("multiple", "parallel", "parallel_multiple")
_LIVE = {"live_simple": 258, "live_multiple": 1053, "live_parallel": 16, "live_parallel_multiple": 24}
"""The sizes of the live categories, which weight a category that was not asked."""

_CATEGORIES_OF: Mapping[str, tuple[str, ...]] = {
    "non_live_ast": (*SIMPLE, *_SEVERAL),
    "live": tuple(_LIVE),
    "irrelevance": ("irrelevance", "live_irrelevance"),
    "multi_turn": GROUPS["multi_turn"],
    "agentic": GROUPS["agentic"],
}
MAX_DELTA: Final = "format_max_delta"
DEVIATION: Final = "format_std"
FALL: Final = "disguise_fall"
"""How much worse a model is at the published questions in disguise."""
_WEIGHTS = {"non_live_ast": 0.1, "live": 0.1, "irrelevance": 0.1, "multi_turn": 0.3, "agentic": 0.4}
_OVERALL = "overall"

_FIRST_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "simple_ast": SIMPLE,
    **{f"{name}_ast": (name,) for name in _SEVERAL},
    "simple_exec": ("exec_simple", "rest"),
    **{f"{name}_exec": (f"exec_{name}",) for name in _SEVERAL},
    "relevance_detection": ("irrelevance",),
}
"""The nine columns of the first version; their categories count by their number of cases."""
_FIRST_SUMMARIES = {
    f"{kind}_summary": [name for name in _FIRST_COLUMNS if name.endswith(f"_{kind}")] for kind in ("ast", "exec")
}

FIGURES = (*_CATEGORIES_OF, _OVERALL, MAX_DELTA, DEVIATION, FALL, *_FIRST_COLUMNS, *_FIRST_SUMMARIES)
"""The names of all figures."""


def suite_figures(tallies: Tallies) -> list[Figure]:
    """Return the scores of the leaderboard's version that has these categories, and what a disguise changes."""
    published = {name: tally for name, tally in tallies.items() if not name.startswith(DISGUISED)}
    return [*(version_figures(published) if published else ()), *_disguise_figures(tallies)]


def version_figures(tallies: Tallies) -> list[Figure]:
    """Return the scores of the leaderboard's version that has these categories: the first one has calls to execute."""
    asked = {name for name, (_, number) in tallies.items() if number}
    if not any(name.startswith("exec_") or name == "rest" for name in asked):
        return leaderboard_figures(tallies)
    is_newer = not asked.issubset(GROUPS["v1"])
    first = [each for each in first_version_figures(tallies) if not (is_newer and each.name == _OVERALL)]
    return [*leaderboard_figures(tallies), *first] if is_newer else first


def first_version_figures(tallies: Tallies) -> list[Figure]:
    """Return the nine columns of the first version that these categories contribute to, their summaries, and its score.

    A column with a missing category is None. The overall accuracy is that of all answers together, and None with a
    missing column.
    """
    counts = {name: [tallies.get(each, (0, 0)) for each in names] for name, names in _FIRST_COLUMNS.items()}
    shares = {
        name: sum(right for right, _ in own) / sum(number for _, number in own)
        for name, own in counts.items()
        if all(number for _, number in own)
    }
    columns = [Figure(name, shares.get(name)) for name, own in counts.items() if any(number for _, number in own)]
    summaries = [
        Figure(name, fmean(shares[each] for each in names) if shares.keys() >= {*names} else None)
        for name, names in _FIRST_SUMMARIES.items()
        if any(each.name in names for each in columns)
    ]
    every = [pair for own in counts.values() for pair in own]
    overall = (
        sum(right for right, _ in every) / sum(number for _, number in every)
        if shares.keys() == counts.keys()
        else None
    )
    return [*columns, *summaries, Figure(_OVERALL, overall, note="version 1")]


def leaderboard_figures(tallies: Tallies) -> list[Figure]:
    """Return the scores that these categories contribute to.

    A score with a missing category is None. The overall accuracy counts questions that were not asked as wrong, as the
    leaderboard does: 10 % each for non-live calls, live calls and irrelevance, 30 % for several turns, 40 % for agents.
    """
    shares = _shares(tallies)
    asked = {name for name, (_, number) in tallies.items() if number}
    figures = [
        Figure(name, shares[name] if asked.issuperset(names) else None)
        for name, names in _CATEGORIES_OF.items()
        if asked.intersection(names)
    ]
    overall = sum(weight * shares[name] for name, weight in _WEIGHTS.items())
    if figures:
        figures.append(Figure(_OVERALL, overall, note="not asked: wrong"))
    return [*figures, *_format_figures(tallies)]


def _shares(tallies: Tallies) -> Mapping[str, float]:
    """All scores. A category that was not asked is all wrong. Only live calls are weighted by their number."""

    def mean(*names: str) -> float:
        return fmean(
            right / number if number else 0.0 for right, number in (tallies.get(name, (0, 0)) for name in names)
        )

    live = [tallies.get(name) or (0, size) for name, size in _LIVE.items()]
    return {
        "non_live_ast": fmean([mean(*SIMPLE), *map(mean, _SEVERAL)]),
        "live": sum(right for right, _ in live) / max(sum(number for _, number in live), 1),
        "irrelevance": mean(*_CATEGORIES_OF["irrelevance"]),
        "multi_turn": mean(*GROUPS["multi_turn"]),
        "agentic": fmean([mean(*GROUPS["web_search"]), mean(*GROUPS["memory"])]),
    }


def _disguise_figures(tallies: Tallies) -> list[Figure]:
    """How much lower the accuracy is in disguise, over the categories that were asked both ways, with its interval."""
    asked = {name: tally for name, tally in tallies.items() if tally[1]}
    hidden = {name: name.removeprefix(DISGUISED) for name in asked if name.startswith(DISGUISED)}
    pairs = [(asked[published], asked[name]) for name, published in hidden.items() if published in asked]
    if not pairs:
        return []
    total = sum(number for _, (_, number) in pairs)
    weighted = [(number / total, *_falls(published, (right, number))) for published, (right, number) in pairs]
    fall = sum(weight * own for weight, own, _ in weighted)
    reach = NormalDist().inv_cdf(0.975) * sqrt(sum(weight**2 * spread for weight, _, spread in weighted))
    note = f"95 %: {100 * (fall - reach):.1f} to {100 * (fall + reach):.1f}, over {total:,} questions"
    return [Figure(FALL, fall, note=note)]


def _falls(published: tuple[int, int], disguised: tuple[int, int]) -> tuple[float, float]:
    """The difference of two accuracies, and its variance by Agresti and Caffo, which is not 0 where all are right."""
    shares = [right / number for right, number in (published, disguised)]
    adjusted = [((right + 1) / (number + 2), number + 2) for right, number in (published, disguised)]
    return shares[0] - shares[1], sum(share * (1 - share) / number for share, number in adjusted)


def _format_figures(tallies: Tallies) -> list[Figure]:
    """The spread over the formats; None unless every format was asked."""
    asked = [tallies[form.category] for form in FORMATS if form.category in tallies]
    shares = [right / number for right, number in asked if number]
    if not asked:
        return []
    known = len(shares) == len(FORMATS)
    return [
        Figure(MAX_DELTA, _max_delta(shares) if known else None),
        Figure(DEVIATION, _deviation(shares) if known else None),
    ]


def format_scores_header(judged: Iterable[tuple[str, bool]]) -> dict[str, Json]:
    """Return the spread over formats for the head of a score file, given ids of cases and whether they are right."""
    by_format: dict[str, list[bool]] = {}
    for id_, valid in judged:
        by_format.setdefault(format_of(id_).config, []).append(valid)
    shares = [sum(own) / len(own) for own in by_format.values()]
    return {
        "accuracy_max_delta": round(_max_delta(shares) * 100, 2),
        "accuracy_variance": round(variance(shares) * 100**2, 2) if len(shares) > 1 else 0.0,
        "accuracy_std": round(_deviation(shares) * 100, 2),
        **{
            config: {"accuracy": sum(own) / len(own), "correct_count": sum(own), "total_count": len(own)}
            for config, own in by_format.items()
        },
    }


def _max_delta(shares: Sequence[float]) -> float:
    return max(shares) - min(shares) if len(shares) > 1 else 0.0


def _deviation(shares: Sequence[float]) -> float:
    """The standard deviation of a sample."""
    return stdev(shares) if len(shares) > 1 else 0.0
