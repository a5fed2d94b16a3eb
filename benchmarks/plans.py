"""How well `fcall plan` predicts what runs see: it knows answers, and not the rates that they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Final, NamedTuple

from benchmarks.noisy_models import Project, accepted_project, rates_of
from pytest_fcall.session.result.detection import Design, Detection, KnownCase

_DROP: Final = 0.1
_LOOKS: Final = 25
"""Runs of a model that got worse, by which it is known how often it is seen."""
ROWS: Final = (
    ("realistic", 100, 2),
    ("realistic", 100, 10),
    ("realistic", 40, 10),
    ("steady", 20, 10),
    ("uniform", 100, 10),
    ("wild", 100, 10),
)
"""Worlds, cases, and runs that are kept."""


def _each_a_little(project: Project, rates: list[float]) -> list[float]:
    kept = 1 - _DROP * project.cases / sum(rates)
    return [rate * kept for rate in rates]


def _one_lost(project: Project, rates: list[float]) -> list[float]:
    likely = [place for place in range(project.cases) if rates[place] >= 0.5]
    lost = project.random.choice(likely)
    return [0.0 if place == lost else rate for place, rate in enumerate(rates)]


LOSSES: Final[Mapping[str, Callable[[Project, list[float]], list[float]]]] = {
    "each a little, 10 points": _each_a_little,
    "1 case lost": _one_lost,
    "none": lambda _, rates: rates,
}


class Prediction(NamedTuple):
    """The share of runs that see a loss, as planned and as simulated, of one project."""

    planned: float
    found: float


def predictions(world: str, cases: int, kept: int, projects: int, seed: int = 1) -> Iterator[dict[str, Prediction]]:
    """Compare plans for simulated projects with what their runs then see."""
    random = Random(seed)  # noqa: S311  # nothing is secret here
    for _ in range(projects):
        rates = rates_of(world, cases, random)
        project = accepted_project(rates, "once", random)
        for _ in range(kept - 1):
            project.run(rates)
        known = tuple(KnownCase(each.first, each.before) for each in project.evidence().values())
        detection, design = Detection(known), Design(known)
        planned = {
            "each a little, 10 points": detection.power(design, "each", _DROP, 200),
            "1 case lost": detection.power_for_lost(design, 1, 200),
            "none": detection.power(design, "each", 0.0, 200),
        }
        yield {
            loss: Prediction(planned[loss], sum(_sees(project, rates, loss) for _ in range(_LOOKS)) / _LOOKS)
            for loss in LOSSES
        }


def _sees(project: Project, rates: list[float], loss: str) -> bool:
    return project.copy().run(LOSSES[loss](project, rates)).is_red


def print_plans(projects: int) -> None:
    """Print what plans say beside what is seen: means over the projects, and the mean error of a plan."""
    print(f"what plans say, what {_LOOKS} runs of each of {projects} projects then see, and the mean error in points\n")
    print(f"| cases | kept runs | {' | '.join(LOSSES)} |\n|{'---|' * (2 + len(LOSSES))}")
    for world, cases, kept in ROWS:
        found = [*predictions(world, cases, kept, projects)]
        figures = [_text([each[loss] for each in found]) for loss in LOSSES]
        print(f"| {cases} {world} | {kept} | {' | '.join(figures)} |", flush=True)


def _text(found: list[Prediction]) -> str:
    planned, seen = (sum(each[side] for each in found) / len(found) for side in (0, 1))
    error = sum(abs(each.planned - each.found) for each in found) / len(found)
    return f"{100 * planned:.0f} %, {100 * seen:.0f} %, ±{100 * error:.0f}"
