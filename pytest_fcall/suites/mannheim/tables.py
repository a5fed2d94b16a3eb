"""The tables of the publication: accuracies by category over both domains, beside the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.extension import Table

SCORES: Final = ("function_accuracy", "parameter_accuracy", "answer_accuracy")
OVERALL: Final = "Overall"
_CATEGORIES: Final = (
    "Selection",
    "Interpretation",
    "Reasoning",
    "Aggregation",
    "Data Types",
    "Languages",
    "Typos",
    "Long Tail Entities",
    "Extra Context",
    "Simple Questions",
)
"""The ten categories, in the order of the publication."""
_OTHER_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Different Languages": "Languages",
        "Long-Tail": "Long Tail Entities",
        "Long Tail": "Long Tail Entities",
        "Long-Tail Entities": "Long Tail Entities",
    }
)
_DOMAINS: Final = ("music_", "travel_")


@dataclass(frozen=True, slots=True)
class Phase:
    """A table of the publication: questions of one kind, over both domains."""

    number: int
    questions: int
    """The number of questions in its run."""
    published: Mapping[str, tuple[float, float, float]]
    """The accuracies of functions, parameters and answers in percent, as printed, by category."""


PHASES: Final[Mapping[str, Phase]] = MappingProxyType(
    {
        "single": Phase(
            4,
            97,
            {
                "Selection": (100, 100, 64),
                "Interpretation": (100, 100, 86),
                "Reasoning": (100, 100, 80),
                "Aggregation": (100, 100, 71),
                "Data Types": (100, 77.78, 77.78),
                "Languages": (100, 87.5, 75),
                "Typos": (100, 66.67, 55.56),
                "Long Tail Entities": (33.33, 33.33, 33.33),
                "Extra Context": (83.33, 66.67, 44.44),
                OVERALL: (95, 85, 66),
            },
        ),
        "single_complex": Phase(
            5,
            97,
            {
                "Selection": (90.91, 90.91, 63.63),
                "Interpretation": (100, 100, 57.14),
                "Reasoning": (100, 100, 80),
                "Aggregation": (100, 100, 85.71),
                "Data Types": (100, 100, 100),
                "Languages": (93.75, 87.5, 87.5),
                "Typos": (100, 66.67, 55.56),
                "Long Tail Entities": (33.33, 33.33, 33.33),
                "Extra Context": (88.89, 72.22, 50),
                OVERALL: (93.81, 86.6, 71.13),
            },
        ),
        "multi_param": Phase(
            6,
            114,
            {
                "Selection": (89, 90, 53),
                "Interpretation": (80, 89, 40),
                "Reasoning": (82, 83, 45),
                "Aggregation": (95, 95, 81),
                "Data Types": (100, 66.67, 18.18),
                "Languages": (100, 92.31, 77.78),
                "Typos": (92, 82.86, 58.33),
                "Long Tail Entities": (83.33, 88.23, 83.33),
                "Extra Context": (86.67, 84.09, 53.33),
                OVERALL: (90, 85.68, 59),
            },
        ),
        "parallel": Phase(
            7,
            41,
            {
                "Selection": (75, 75, 50),
                "Reasoning": (100, 95.45, 77.77),
                "Aggregation": (100, 100, 50),
                "Languages": (100, 100, 57.14),
                "Extra Context": (100, 82.35, 50),
                "Simple Questions": (100, 100, 100),
                OVERALL: (97.8, 93.54, 60.97),
            },
        ),
        "sequential": Phase(
            8,
            57,
            {
                "Selection": (91.67, 91.67, 66.67),
                "Reasoning": (71.43, 66.67, 44.44),
                "Aggregation": (78.57, 68.29, 50),
                "Languages": (72.72, 48.38, 36.36),
                "Data Types": (75, 75, 50),
                "Extra Context": (90, 87.09, 53.85),
                "Simple Questions": (63.63, 50, 37.5),
                OVERALL: (76.74, 65.57, 50.88),
            },
        ),
    }
)
"""By the name of a part without its domain."""


@dataclass(frozen=True, slots=True)
class Accuracies:
    """The accuracies of some questions, each from 0 to 1, or None where there is nothing to divide by."""

    questions: int
    shares: Sequence[float | None]
    """In the order of SCORES."""


def accuracies_of(sums: Mapping[tuple[str, str], Sequence[float]]) -> dict[tuple[str, str], Accuracies]:
    """Return the accuracies by phase and category, and those of each phase.

    `sums` are the right and all items of each score, in the order of SCORES, by phase and category.
    """
    whole: dict[tuple[str, str], list[float]] = {}
    for (phase, category), numbers in sums.items():
        for key in ((phase, category), (phase, OVERALL)):
            whole[key] = [one + other for one, other in zip(whole.get(key, [0] * len(numbers)), numbers, strict=True)]
    return {key: _accuracies(numbers) for key, numbers in whole.items()}


def _accuracies(numbers: Sequence[float]) -> Accuracies:
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    return Accuracies(int(pairs[-1][1]), [right / every if every else None for right, every in pairs])


def category_name(text: str) -> str:
    """Return the publication's name of a category, which some sets call otherwise."""
    return _OTHER_NAMES.get(text.strip(), text.strip())


def phase_name(part: str) -> str:
    """Return the name of the phase that a part is of; that of the part where the publication has no such phase."""
    for domain in _DOMAINS:
        if part.removeprefix(domain) in PHASES:
            return part.removeprefix(domain)
    return part


def tables(found: Mapping[tuple[str, str], Accuracies]) -> Iterator[Table]:
    """Yield the publication's tables, and one of each phase that it does not have.

    `found` has phase and category, or OVERALL.
    """
    names = dict.fromkeys(phase for phase, _ in found)
    for phase in (*(name for name in PHASES if name in names), *(name for name in names if name not in PHASES)):
        yield _table(phase, {category: each for (name, category), each in found.items() if name == phase})


def _table(name: str, found: Mapping[str, Accuracies]) -> Table:
    phase = PHASES.get(name)
    own = sorted(found.keys() - {*_CATEGORIES, OVERALL})
    order = [each for each in (*_CATEGORIES, *own, OVERALL) if each in found]
    if phase is None:
        titles = [name, "questions", *(score.partition("_")[0] for score in SCORES)]
        return Table(tuple(titles), tuple(tuple(_row(each, found[each])) for each in order))
    titles = [f"table {phase.number}, {name}", "questions"]
    for score in SCORES:
        titles += [score.partition("_")[0], "paper"]
    return Table(tuple(titles), tuple(tuple(_compared_row(each, found[each], phase)) for each in order))


def _row(category: str, found: Accuracies) -> Iterator[str]:
    yield category
    yield f"{found.questions:,}"
    yield from map(_percent_text, found.shares)


def _compared_row(category: str, found: Accuracies, phase: Phase) -> Iterator[str]:
    published = phase.published.get(category)
    yield category
    yield f"{found.questions:,} of {phase.questions}" if category == OVERALL else f"{found.questions:,}"
    for place, share in enumerate(found.shares):
        yield _percent_text(share)
        yield f"{published[place]:g}" if published else "-"


def _percent_text(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f}"
