"""The leaderboard's figures: its shares and weighted scores, the spread over prompt formats, and the table of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import starmap
from math import sqrt
from statistics import NormalDist, fmean, stdev, variance
from typing import Final, NamedTuple, TypeAlias

from pytest_fcall.core.extension import Figure, Table
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.categories import CATEGORIES, DISGUISED, FORMAT_CATEGORY, FORMATS, GROUPS, format_of

Tallies: TypeAlias = Mapping[str, tuple[int, int]]
"""The number of right answers and of all answers, by category."""

SIMPLE: Final = ("simple_python", "simple_java", "simple_javascript")
SEVERAL: Final = ("multiple", "parallel", "parallel_multiple")
_LIVE_SIZES: Final = {"live_simple": 258, "live_multiple": 1053, "live_parallel": 16, "live_parallel_multiple": 24}
"""The sizes of the live categories, which weight a category that was not asked."""
_WEIGHTS: Final = (10, 10, 10, 30, 40)
_CATEGORIES_OF: Mapping[str, tuple[str, ...]] = {
    "non_live_ast": (*SIMPLE, *SEVERAL),
    "live": tuple(_LIVE_SIZES),
    "irrelevance": ("irrelevance", "live_irrelevance"),
    "multi_turn": GROUPS["multi_turn"],
    "agentic": GROUPS["agentic"],
}
_MAX_DELTA: Final = "format_max_delta"
_DEVIATION: Final = "format_std"
FALL: Final = "disguise_fall"
"""The name of the figure for how much worse a model is at questions in disguise."""
_OVERALL = "overall"

_FIRST_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "simple_ast": SIMPLE,
    **{f"{name}_ast": (name,) for name in SEVERAL},
    "simple_exec": ("exec_simple", "rest"),
    **{f"{name}_exec": (f"exec_{name}",) for name in SEVERAL},
    "relevance_detection": ("irrelevance",),
}
"""The nine columns of the first version; their categories count by their number of cases."""
_FIRST_SUMMARIES = {
    f"{kind}_summary": [name for name in _FIRST_COLUMNS if name.endswith(f"_{kind}")] for kind in ("ast", "exec")
}

_EXECUTED: Final = tuple(name for columns in _FIRST_COLUMNS.values() for name in columns if name in GROUPS["retired"])

FIGURES = (
    *_CATEGORIES_OF,
    *(_OVERALL, _MAX_DELTA, _DEVIATION, FALL),
    *_FIRST_COLUMNS,
    *_FIRST_SUMMARIES,
    *("non_live", "relevance"),
)
"""The names of all figures."""


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
    live = mean_by_size(*(known[name] for name in _LIVE_SIZES))
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
    return Share(right / asked, asked, True) if asked else Share(0, _LIVE_SIZES.get(category, 0), False)


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


def suite_figures(tallies: Tallies) -> list[Figure]:
    """Return the scores of the leaderboard's version that has these categories, and what a disguise changes."""
    published = {name: tally for name, tally in tallies.items() if not name.startswith(DISGUISED)}
    return [*(version_figures(published) if published else ()), *_disguise_figures(tallies)]


def version_figures(tallies: Tallies) -> list[Figure]:
    """Return the scores of the leaderboard's version that has these categories.

    The first version has calls to execute. The second and the third one are meant where all of their categories were
    asked, and no others; the third one lost the calls to execute in 2025.
    """
    asked = _asked(tallies)
    if asked == {*GROUPS["v2"]}:
        return _second_version_figures(tallies)
    if asked - {*_EXECUTED} == {*GROUPS["v3"]} and (asked.issuperset(_EXECUTED) or asked.isdisjoint(_EXECUTED)):
        return _third_version_figures(tallies)
    if is_first_version(tallies):
        return _first_version_figures(tallies)
    newer = leaderboard_figures(tallies)
    if asked.isdisjoint(_EXECUTED):
        return newer
    return [*newer, *(each for each in _first_version_figures(tallies) if each.name != _OVERALL)]


def is_first_version(tallies: Tallies) -> bool:
    """Return whether these categories are those of the first version, which has calls to execute."""
    asked = _asked(tallies)
    return not asked.isdisjoint(_EXECUTED) and asked.issubset(GROUPS["v1"])


def _asked(tallies: Tallies) -> set[str]:
    return {name for name, (_, number) in tallies.items() if number}


def _first_version_figures(tallies: Tallies) -> list[Figure]:
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


def _second_version_figures(tallies: Tallies) -> list[Figure]:
    """Return the columns of the second version, in each of which live and other questions count alike, and its score.

    All categories must have been asked. The overall accuracy is the mean of the ten columns.
    """
    accuracy = _accuracies(tallies)
    calls = {**_call_columns(accuracy), **_executed_columns(accuracy)}
    both = {f"{name}_ast": fmean([calls[f"{name}_ast"], accuracy[f"live_{name}"]]) for name in ("simple", *SEVERAL)}
    columns = calls | both | _relevance_columns(accuracy)
    return [
        *starmap(Figure, columns.items()),
        *(Figure(name, fmean(columns[each] for each in names)) for name, names in _FIRST_SUMMARIES.items()),
        Figure("non_live", fmean([*calls.values(), accuracy["irrelevance"]])),
        Figure("live", _live_share(tallies)),
        Figure(_OVERALL, fmean(columns.values()), note="version 2"),
    ]


def _third_version_figures(tallies: Tallies) -> list[Figure]:
    """Return the columns of the third version, with those of executed calls where they were asked, and its score.

    All categories must have been asked. The overall accuracy is the mean of live questions, others, and conversations.
    """
    accuracy = _accuracies(tallies)
    columns = _call_columns(accuracy)
    if _EXECUTED[0] in accuracy:
        columns |= _executed_columns(accuracy)
    parts = {
        "non_live": fmean([*columns.values(), accuracy["irrelevance"]]),
        "live": _live_share(tallies),
        "multi_turn": fmean(accuracy[name] for name in GROUPS["multi_turn"]),
    }
    summaries = {
        name: fmean(columns[each] for each in names)
        for name, names in _FIRST_SUMMARIES.items()
        if columns.keys() >= {*names}
    }
    return [
        *starmap(Figure, (columns | summaries | parts | _relevance_columns(accuracy)).items()),
        Figure(_OVERALL, fmean(parts.values()), note="version 3"),
    ]


def _accuracies(tallies: Tallies) -> dict[str, float]:
    return {name: right / number for name, (right, number) in tallies.items() if number}


def _call_columns(accuracy: Mapping[str, float]) -> dict[str, float]:
    """The columns of calls that are compared. The three languages of simple ones count alike."""
    return {"simple_ast": fmean(accuracy[name] for name in SIMPLE)} | {
        f"{name}_ast": accuracy[name] for name in SEVERAL
    }


def _executed_columns(accuracy: Mapping[str, float]) -> dict[str, float]:
    """The columns of calls that are executed. Requests count as much as all other simple calls."""
    several = {f"{name}_exec": accuracy[f"exec_{name}"] for name in SEVERAL}
    return {"simple_exec": fmean([accuracy["exec_simple"], accuracy["rest"]])} | several


def _relevance_columns(accuracy: Mapping[str, float]) -> dict[str, float]:
    irrelevance = fmean(accuracy[name] for name in _CATEGORIES_OF["irrelevance"])
    return {"irrelevance": irrelevance, "relevance": accuracy["live_relevance"]}


def _live_share(tallies: Tallies) -> float:
    """The share of all live questions, those without a call among them."""
    counted = [tallies[name] for name in GROUPS["live"]]
    return sum(right for right, _ in counted) / sum(number for _, number in counted)


def leaderboard_figures(tallies: Tallies) -> list[Figure]:
    """Return the scores that these categories contribute to.

    A score with a missing category is None. The overall accuracy counts questions that were not asked as wrong, as the
    leaderboard does: 10 % each for non-live calls, live calls and irrelevance, 30 % for several turns, 40 % for agents.
    """
    all_shares = leaderboard_shares(tallies)
    shares = {
        "non_live_ast": all_shares.non_live,
        "live": all_shares.live,
        "irrelevance": all_shares.irrelevance,
        "multi_turn": all_shares.multi_turn,
        "agentic": all_shares.agentic,
    }
    asked = {name for name, (_, number) in tallies.items() if number}
    figures = [Figure(name, shares[name].known) for name, own in _CATEGORIES_OF.items() if asked.intersection(own)]
    if figures:
        figures.append(Figure(_OVERALL, all_shares.overall.value, note="not asked: wrong"))
    return [*figures, *_format_figures(tallies)]


def _disguise_figures(tallies: Tallies) -> list[Figure]:
    """The fall of the accuracy in disguise, over the categories that were asked both ways, with its interval."""
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
    most, deviation = format_spread(shares)
    return [Figure(_MAX_DELTA, most if known else None), Figure(_DEVIATION, deviation if known else None)]


def format_scores_header(judged: Iterable[tuple[str, bool]]) -> dict[str, Json]:
    """Return the spread over formats for the head of a score file, given ids of cases and whether they are right."""
    by_format: dict[str, list[bool]] = {}
    for id_, valid in judged:
        by_format.setdefault(format_of(id_).config, []).append(valid)
    shares = [sum(own) / len(own) for own in by_format.values()]
    most, deviation = format_spread(shares)
    return {
        "accuracy_max_delta": round(most * 100, 2),
        "accuracy_variance": round(variance(shares) * 100**2, 2) if len(shares) > 1 else 0.0,
        "accuracy_std": round(deviation * 100, 2),
        **{
            config: {"accuracy": sum(own) / len(own), "correct_count": sum(own), "total_count": len(own)}
            for config, own in by_format.items()
        },
    }


def format_spread(shares: Sequence[float]) -> tuple[float, float]:
    """Return the best share less the worst, and the standard deviation of a sample."""
    return (max(shares) - min(shares), stdev(shares)) if len(shares) > 1 else (0.0, 0.0)


def counted_category(category: str, id_: str) -> str:
    """Return the category for which an answer counts: each prompt format is one."""
    return format_of(id_).category if category == FORMAT_CATEGORY else category


def accuracy_table(model: str, tallies: Tallies, sizes: Mapping[str, int]) -> Table:
    """Return the accuracy of a model by category, and the scores of the leaderboard."""
    rows = [
        (category, _count(answers, sizes[category]), f"{right:,}", f"{100 * right / answers:.2f} %")
        for category, (right, answers) in tallies.items()
    ]
    scores = [
        (f"{each.title} ({each.note})" if each.note else each.title, "", "", f"{each.share * 100:.2f} %")
        for each in suite_figures(tallies)
        if each.share is not None
    ]
    return Table((model, "answers", "right", "accuracy"), (*rows, *scores))


def _count(answers: int, size: int) -> str:
    """The number of answers; where it is not that of the cases, as far as this is known, both."""
    return f"{answers:,}" if size in (0, answers) else f"{answers:,} of {size:,}"
