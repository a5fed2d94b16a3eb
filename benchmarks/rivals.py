"""What other programs conclude of models that answer by chance: `make rivals`.

The programs run as their documentation shows it, with their own defaults, in an environment of their own. The models
are those of `benchmarks.statistics`: 100 realistic cases, of which five are then lost for good, or each loses ten
points.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from benchmarks.noisy_models import rates_of

_CASES: Final = 100
_UNCHANGED: Final = 5
"""Runs of an unchanged model in each project."""
_EVALUATION: Final = """
import json
from pathlib import Path
from random import Random

import evaltrack
import pytest
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected

rates, random = json.loads(Path(__file__).with_name("rates.json").read_text()), Random()


def answer(number):
    return "Oslo" if random.random() < rates[number] else random.choice(["Rome", "Bern", "Riga"])


@pytest.mark.evaltrack(FLAKE_RERUNS)
def test_weather():
    cases = [Case(name=f"case {number}", inputs=number, expected_output="Oslo") for number in range(len(rates))]
    dataset = Dataset(name="weather", cases=cases, evaluators=[EqualsExpected()])
    evaltrack.run(lambda task: dataset.evaluate_sync(task, progress=False), answer)
"""


class Rival(NamedTuple):
    """Another program that calls a run good or bad."""

    accept: Callable[[Path, Path], None]
    """Takes the model in a folder, as it is now, for the one to compare with; the other path is the environment's."""
    is_red: Callable[[Path, Path], bool]
    """Runs it on the model in the folder."""


def _toolscore(folder: Path, environment: Path, *arguments: str) -> int:
    return _status(folder, str(environment / "bin/toolscore"), *arguments)


def _write_trace(folder: Path) -> None:
    rates, random = json.loads((folder / "rates.json").read_text()), Random()  # noqa: S311  # nothing is secret here
    cities = ["Oslo" if random.random() < rate else random.choice(["Rome", "Bern", "Riga"]) for rate in rates]
    for name, answers in (("gold", ["Oslo"] * len(rates)), ("trace", cities)):
        calls = [{"tool": "get_weather", "args": {"city": city, "case": case}} for case, city in enumerate(answers)]
        (folder / f"{name}.json").write_text(json.dumps(calls))


def _save_baseline(folder: Path, environment: Path) -> None:
    _write_trace(folder)
    assert _toolscore(folder, environment, "eval", "gold.json", "trace.json", "--save-baseline", "baseline.json") == 0


def _has_regression(folder: Path, environment: Path) -> bool:
    _write_trace(folder)
    return _toolscore(folder, environment, "regression", "baseline.json", "trace.json", "-g", "gold.json") == 1


def _evaltrack(reruns: int) -> Rival:
    def accept(folder: Path, _: Path) -> None:
        text = _EVALUATION.replace("FLAKE_RERUNS", f"flake_reruns={reruns}" if reruns else "")
        (folder / "test_weather.py").write_text(text)

    def is_red(folder: Path, environment: Path) -> bool:
        return _status(folder, str(environment / "bin/python"), "-m", "pytest", "-q", "-m", "evaltrack") == 1

    return Rival(accept, is_red)


RIVALS: Final[Mapping[str, Rival]] = {
    "toolscore regression": Rival(_save_baseline, _has_regression),
    "evaltrack": _evaltrack(0),
    "evaltrack, flake_reruns=2": _evaltrack(2),
}


def _status(folder: Path, *command: str) -> int:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{command}: {done.stdout}{done.stderr}")
    return done.returncode


def _count(rival: Rival, environment: Path, projects: int) -> Counter[str]:
    random, found = Random(1), Counter[str]()  # noqa: S311  # nothing is secret here
    for _ in range(projects):
        rates = rates_of("realistic", _CASES, random)
        lost = {*random.sample([place for place, rate in enumerate(rates) if rate == 1.0], 5)}
        with TemporaryDirectory() as name:
            folder = Path(name)
            _write_rates(folder, rates)
            rival.accept(folder, environment)
            found["unchanged"] += sum(rival.is_red(folder, environment) for _ in range(_UNCHANGED))
            _write_rates(folder, [0.0 if place in lost else rate for place, rate in enumerate(rates)])
            found["lost"] += rival.is_red(folder, environment)
            _write_rates(folder, [rate - 0.1 for rate in rates])
            found["worse"] += rival.is_red(folder, environment)
    return found


def _write_rates(folder: Path, rates: list[float]) -> None:
    (folder / "rates.json").write_text(json.dumps(rates))


def main() -> None:
    """Print a row for each of the programs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals")
    parser.add_argument("environment", type=Path, help="the environment with the programs")
    parser.add_argument("--projects", type=int, default=20, help=f"projects of {_UNCHANGED + 2} runs for each program")
    options = parser.parse_args()
    print("| program | unchanged: red | 5 cases lost | each case −10 points |\n|---|---|---|---|")
    for name, rival in RIVALS.items():
        found, projects = _count(rival, options.environment.resolve(), options.projects), options.projects
        shares = (found["unchanged"] / projects / _UNCHANGED, found["lost"] / projects, found["worse"] / projects)
        print(f"| {name} | " + " | ".join(f"{100 * share:.0f} %" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
