"""How often a run calls an unchanged model worse, and how often it sees one that is: `make statistics`.

Models answer by chance, and a few runs are made real: the others call the code that judges them. The second table is
about the gate `significant(0.05)` alone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.noisy_models import HABITS, Conclusion, Habit, Project, accept_by_habit, accepted_project, rates_of
from benchmarks.variants import print_variants
from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.significance import RatePair, p_value_worse

_LEVEL = 0.05
_RUNS = 19
"""Runs of an unchanged model after its answers were accepted."""
_LOOKS = (0, 9)
"""After so many of these runs, a model that got worse is looked at."""


@dataclass(frozen=True)
class Exam:
    """Cases, how often each is asked, and what the model is worth before and now.

    Cases differ: some are easy and some hard. Each has a rate of its own, drawn from a beta distribution whose mean is
    the accuracy; the smaller its two numbers together, the more cases are always right or always wrong.
    """

    cases: int = 200
    samples: int = 1
    accuracy: float = 0.85
    drop: float = 0.0
    steadiness: float = 0.25
    """How much alike the answers to a case are: 0 if each case is always right or always wrong, 1 if none is."""


def alarms(exam: Exam, runs: int, seed: int = 1) -> float:
    """The share of so many pairs of runs that the test calls worse."""
    random = Random(seed)  # noqa: S311  # nothing is secret here
    return sum(p_value_worse(_pairs(exam, random)) <= _LEVEL for _ in range(runs)) / runs


def _pairs(exam: Exam, random: Random) -> Iterator[RatePair]:
    spread = exam.steadiness / (1 - exam.steadiness)
    kept = 1 - exam.drop / exam.accuracy
    for _ in range(exam.cases):
        rate = random.betavariate(exam.accuracy * spread, (1 - exam.accuracy) * spread)
        # What got worse got so for good: the case is lost, and not only less likely to be right.
        now = rate if random.random() < kept else 0.0
        yield RatePair(_answers(rate, exam.samples, random), _answers(now, exam.samples, random))


def _answers(rate: float, samples: int, random: Random) -> Rate:
    return Rate(sum(random.random() < rate for _ in range(samples)), samples)


def _lost(count: int) -> Callable[[Project, list[float], Random], list[float]]:
    """Make so many accepted cases wrong for good, of those that are right more often than not."""

    def worse(project: Project, rates: list[float], random: Random) -> list[float]:
        likely = [place for place in sorted(project.contract) if rates[place] >= 0.5]
        lost = {*random.sample(likely, min(count, len(likely)))}
        return [0.0 if place in lost else rate for place, rate in enumerate(rates)]

    return worse


def _ten_points(project: Project, rates: list[float], random: Random) -> list[float]:
    """Lose a tenth of the cases for good."""
    return _lost(round(len(rates) / 10))(project, rates, random)


def _every_case(_: Project, rates: list[float], __: Random) -> list[float]:
    """Make every case ten points less likely to be right."""
    return [max(rate - 0.1, 0.0) for rate in rates]


DROPS: Mapping[str, Callable[[Project, list[float], Random], list[float]]] = {
    "1 case lost": _lost(1),
    "5 cases lost": _lost(5),
    "a tenth lost": _ten_points,
    "each case −10 points": _every_case,
}


@dataclass(slots=True)
class Tally:
    """What runs of one kind of project concluded."""

    runs: int = 0
    red: int = 0
    undecided: int = 0
    red_projects: int = 0
    asked: float = 0.0
    lost: int = 0
    """Runs in which a case was wrong that had been accepted as right."""
    dropped: int = 0
    """Runs in which 5 points fewer were right than in the accepted one."""
    seen: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Of models that got worse, by the drop and the run: how often it was seen."""


def tally(world: str, cases: int, habit: Habit, projects: int, seed: int = 1) -> Tally:
    """Simulate projects: each is accepted by habit, runs unchanged, and is looked at as if it got worse."""
    random, found = Random(seed), Tally()  # noqa: S311  # nothing is secret here
    for _ in range(projects):
        rates = rates_of(world, cases, random)
        project = accepted_project(rates, habit, random, world)
        accepted, reds = len(project.contract), 0
        for run in range(_RUNS):
            if run in _LOOKS:
                _look(project, rates, run, found, random)
            conclusion = project.run(rates)
            reds += conclusion.is_red
            _count(found, conclusion, cases, accepted)
            accept_by_habit(project, habit)
        found.red_projects += reds > 0
    return found


def _count(found: Tally, conclusion: Conclusion, cases: int, accepted: int) -> None:
    found.runs += 1
    found.red += conclusion.is_red
    found.undecided += conclusion.undecided > 0 and not conclusion.is_red
    found.asked += conclusion.asked / cases
    found.lost += conclusion.lost > 0
    found.dropped += accepted - conclusion.right >= 0.05 * cases


def _look(project: Project, rates: list[float], run: int, found: Tally, random: Random) -> None:
    for name, worse in DROPS.items():
        conclusion = project.copy().run(worse(project, rates, random))
        found.seen[name, run] += conclusion.is_red


ROWS: tuple[tuple[str, int, Habit], ...] = (
    *(("realistic", 100, habit) for habit in HABITS),
    ("steady", 20, "once"),
    ("steady", 20, "no history"),
    ("realistic", 500, "once"),
    ("uniform", 100, "once"),
    ("wild", 100, "once"),
    ("bad hours", 100, "once"),
    ("slow drift", 100, "once"),
)


def print_worlds(projects: int) -> None:
    """Print the table of all worlds and habits."""
    looks = [f"{name}, run {run + 1}" for name in DROPS for run in _LOOKS]
    columns = ["cases", "accepted", "red", "red in 19 runs", "undecided", "requests a case", *looks]
    rivals = ["any lost case is red", "5 points fewer is red"]
    for habit, meaning in HABITS.items():
        print(f"* accepted {habit}: {meaning}")
    print(f"\n| {' | '.join([*columns, *rivals])} |\n|{'---|' * len([*columns, *rivals])}", flush=True)
    for world, cases, habit in ROWS:
        number = max(projects * 100 // cases, 1) if cases > 100 else projects
        found = tally(world, cases, habit, number)
        shares = [found.red / found.runs, found.red_projects / number, found.undecided / found.runs]
        seen = [found.seen[name, run] / number for name in DROPS for run in _LOOKS]
        figures = [*map(_percent, shares), f"{found.asked / found.runs:.2f}", *map(_percent, seen)]
        naive = [_percent(found.lost / found.runs), _percent(found.dropped / found.runs)]
        print(f"| {cases} {world} | {habit} | {' | '.join([*figures, *naive])} |", flush=True)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


APP = '''
import json
from pathlib import Path
from random import Random

rates, random = json.loads(Path(__file__).with_name("rates.json").read_text()), Random()


def answer(request):
    """Be right as often as this case is."""
    number = request.messages[-1]["content"].split()[-1]
    city = "Oslo" if random.random() < rates[int(number)] else random.choice(["Rome", "Bern", "Riga"])
    return [{"name": "get_weather", "arguments": {"city": city}}]
'''
TOOL = {
    "name": "get_weather",
    "description": "Weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def print_real_runs(runs: int, cases: int = 100) -> None:
    """Run pytest so many times on unchanged models, and on such as lost five cases for good."""
    random, reds, undecided, projects, seen = Random(1), 0, 0, max(runs // 20, 1), 0  # noqa: S311  # nothing is secret here
    for _ in range(projects):
        with TemporaryDirectory() as name:
            folder = Path(name)
            rates = rates_of("realistic", cases, random)
            _write_project(folder, rates)
            _pytest(folder)
            assert _run(folder, "pytest_fcall.cli", "accept") == 0
            statuses = [_pytest(folder) for _ in range(_RUNS)]
            reds += statuses.count(1)
            undecided += statuses.count(10)
            sure = [place for place, rate in enumerate(rates) if rate == 1.0]
            lost = random.sample(sure, 5)
            _write_rates(folder, [0.0 if place in lost else rate for place, rate in enumerate(rates)])
            seen += _pytest(folder) == 1
            print(f"{len(statuses)} runs: {statuses}", flush=True)
    total = projects * _RUNS
    print(
        f"{total} real runs of {cases} realistic cases, unchanged: {reds} red, {undecided} undecided; five cases lost"
    )
    print(f"for good after them: seen in {seen} of {projects}")


_QUIET: Mapping[str, int] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def _write_project(folder: Path, rates: list[float]) -> None:
    lines = [
        f"  - {{id: case_{number}, prompt: Weather in Oslo? {number}, expect: [{{get_weather: {{city: Oslo}}}}]}}\n"
        for number in range(len(rates))
    ]
    (folder / "weather.fc.yaml").write_text(f"tools: [{json.dumps(TOOL)}]\ncases:\n{''.join(lines)}")
    (folder / "app.py").write_text(APP)
    (folder / "pytest.ini").write_text("[pytest]\n")
    _write_rates(folder, rates)


def _write_rates(folder: Path, rates: list[float]) -> None:
    (folder / "rates.json").write_text(json.dumps(rates))


def _pytest(folder: Path) -> int:
    return _run(folder, "pytest", "-q", "-p", "no:randomly", "--fc-model=python:app:answer")


def _run(folder: Path, *module: str) -> int:
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    command = [sys.executable, "-m", *module]
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True).returncode


def main() -> None:
    """Print the tables of docs/explanation/{error-rates,comparisons,nights,guilty-edits}.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.statistics")
    parser.add_argument("--projects", type=int, default=50, help="simulated projects of 19 runs a row")
    parser.add_argument("--pairs", type=int, default=10_000, help="pairs of runs for the gate's table; 0 for none")
    parser.add_argument("--nights", type=int, default=10_000, metavar="N", help="series of nights a row; 0 for none")
    parser.add_argument(
        "--plans", type=int, default=20, metavar="N", help="projects that are planned a row; 0 for none"
    )
    parser.add_argument("--varied", type=int, default=1000, help="runs with variants a row; 0 for none")
    parser.add_argument("--edits", type=int, default=1_000, help="searches for guilty edits a row; 0 for none")
    parser.add_argument("--real", type=int, default=0, metavar="N", help="run pytest N times, too")
    options = parser.parse_args()
    if options.projects:
        print(f"{options.projects} projects a row, {_RUNS} runs each\n")
        print_worlds(options.projects)
    if options.pairs:
        print(f"\n200 cases, {options.pairs:,} pairs of runs: how often significant(0.05) does not hold\n")
        print("| true drop in accuracy | asked once | asked 5 times |\n|---|---|---|")
        for drop in (0.0, 0.02, 0.05, 0.1):
            shares = [alarms(Exam(samples=samples, drop=drop), options.pairs) for samples in (1, 5)]
            print(f"| {100 * drop:.0f} points | " + " | ".join(map(_percent, shares)) + " |")
    if options.nights:
        from benchmarks.nights import print_nights

        print()
        print_nights(options.nights)
    if options.plans:
        from benchmarks.plans import print_plans

        print()
        print_plans(options.plans)
    if options.varied:
        print(f"\n5 relations, {options.varied:,} runs a row: how often one is called fragile\n")
        print_variants(options.varied)
    if options.edits:
        from benchmarks.edit_searches import print_edit_searches

        print_edit_searches(options.edits)
    if options.real:
        print_real_runs(options.real)


if __name__ == "__main__":
    main()
