"""The original's scores: a figure for each category, their means, and the weighted sum of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.extension import Figure
from pytest_fcall.suites.acebench.categories import CATEGORIES, LANGUAGES, QuestionCategory, read_id

AceBenchTallies: TypeAlias = Mapping[str, tuple[int, int]]
"""The numbers of right answers and of all answers, by the id of the case, which begins with the language."""

_ATOM: Final = ("bool", "enum", "number", "list", "object_deep", "object_short")
_SINGLE: Final = ("single_turn_singal_function", "single_turn_parallel_function")
_DIALOGUES: Final = ("multiple_turn_switch", "multiple_turn_adjust")
_MEANS: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "atom": _ATOM,
        "single_turn": _SINGLE,
        "multiple_turn": _DIALOGUES,
        "normal_summary": (*_SINGLE, *_DIALOGUES, "similar_api", "profile", *_ATOM),
        "special_summary": ("incomplete", "error", "irrelevant"),
        "agent_summary": ("agent_multi_turn", "agent_multi_step"),
    }
)
"""The columns whose mean is a column, in the order in which the original adds them up."""
_WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {"special_summary": 0.2676, "normal_summary": 0.578, "agent_summary": 0.1545}
)
_SUMMARY: Final = "Summary"
_PROCESS: Final = "_process"
COLUMNS: Final = (
    *_ATOM[:4],
    *("object_short", "object_deep", "atom"),
    *(*_SINGLE, "single_turn", *_DIALOGUES, "multiple_turn", "similar_api", "profile", "normal_summary"),
    *("incomplete", "error", "irrelevant", "special_summary"),
    *("agent_multi_turn", f"agent_multi_turn{_PROCESS}", "agent_multi_step", f"agent_multi_step{_PROCESS}"),
    *("agent_summary", _SUMMARY),
)
"""The original's columns, in its order and spelling."""


Group: TypeAlias = tuple[str, str]
"""A category, and in it the number of a dialogue, or nothing."""


def figures(tallies: AceBenchTallies) -> list[Figure]:
    """Return the figures of a run, which asks no agents: the original counts what it lacks as wrong."""
    found = []
    for language in LANGUAGES:
        for name, share in column_shares(_groups(language, tallies)).items():
            note = "agents not asked: wrong" if name == _SUMMARY and share is not None else ""
            found.append(Figure(name, share, language, note))
    return found


def _groups(language: str, tallies: AceBenchTallies) -> Mapping[Group, tuple[int, int]]:
    counted: dict[Group, tuple[int, int]] = {}
    for id_, (right, asked) in tallies.items():
        named = read_id(id_)
        if named is not None and named.language == language:
            group = named.category.name, named.dialogue
            before = counted.get(group, (0, 0))
            counted[group] = before[0] + right, before[1] + asked
    return counted


def column_shares(groups: Mapping[Group, Sequence[float]]) -> dict[str, float | None]:
    """Return the columns to which groups contribute, rounded where the original rounds.

    A group is the number of right answers and of all, and of agents the sum of their progress, too. A mean that lacks
    a column is None; so is the sum without a mean, but agents may be lacking.
    """
    shares: dict[str, float | None] = {}
    for category in CATEGORIES.values():
        if own := [numbers for (name, _), numbers in groups.items() if name == category.name]:
            shares |= _category_shares(category, own)
    for name, parts in _MEANS.items():
        known = [share for part in parts if (share := shares.get(part)) is not None]
        if known:
            shares[name] = round(sum(known) / len(parts), 3) if len(known) == len(parts) else None
    if shares:
        known_means = {name: shares.get(name, 0.0 if name == "agent_summary" else None) for name in _WEIGHTS}
        shares[_SUMMARY] = _weighted(known_means)
    return {name: shares[name] for name in COLUMNS if name in shares}


def _weighted(means: Mapping[str, float | None]) -> float | None:
    if any(mean is None for mean in means.values()):
        return None
    return round(sum((mean or 0.0) * _WEIGHTS[name] for name, mean in means.items()), 3)


def _category_shares(category: QuestionCategory, groups: Sequence[Sequence[float]]) -> dict[str, float]:
    right, asked = (sum(numbers[place] for numbers in groups) for place in (0, 1))
    match category.kind:
        case "problem":  # not rounded
            return {category.column: right / asked}
        case "dialogue":  # right if all of its turns are
            return {category.column: round(sum(own[0] == own[1] for own in groups) / len(groups), 3)}
        case "agent":
            progress = round(sum(numbers[2] for numbers in groups) / asked, 3)
            return {category.column: round(right / asked, 3), f"{category.column}{_PROCESS}": progress}
    return {category.column: round(right / asked, 3)}
