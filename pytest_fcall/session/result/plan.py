"""A plan: what runs of a suite see, and how many cases and answers it takes to see a certain drop."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from pytest_fcall.core.backend import Model
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.reply import known_sum
from pytest_fcall.core.verdict import Rate
from pytest_fcall.reporting.plan import Plan, PlanOption, Sight, SuiteFigures
from pytest_fcall.reporting.results import Result
from pytest_fcall.session.result.detection import Design, Detection, KnownCase, Loss
from pytest_fcall.session.result.kept_runs import Run
from pytest_fcall.tracking.baseline_file import baseline_path
from pytest_fcall.tracking.bookkeeping import measurement_path, read_measurement
from pytest_fcall.tracking.gates import GateError, parse_gates
from pytest_fcall.tracking.history import MOST_RUNS, CaseName, verdicts_of
from pytest_fcall.tracking.measurement import Measurement, RunVerdict, evidence_of

_SAMPLES: Final = (1, 2, 3, 5, 10)
_FACTORS: Final = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
_DEAR: Final = 3
"""Suites that ask for so many times the answers of the cheapest one are not looked at."""
KEPT: Final = 10
"""Kept runs with which a suite is judged that is not there yet, or not for long."""
MOST_CASES: Final = 2000
_LOSSES: Final[Sequence[tuple[str, Loss]]] = (("each case a little", "each"), ("some cases, for good", "some"))
_MOST_COUNTED: Final = 10**4
"""More answers to a case are taken for damage."""
_MOST_DRAWN: Final = 30_000
"""Cases that are simulated for each figure, but for large suites."""
_LEAST_RUNS, _MOST_SIMULATED = 100, 400
_SMALLEST: Final = 0.005
"""Drops are found to half a point."""


@dataclass(frozen=True, slots=True)
class MeasuredSuite:
    """The cases of a model as the newest run has them, and what is known of them."""

    model: str
    cases: tuple[KnownCase, ...]
    accepted: int = 0
    unmeasured: int = 0
    """Further cases, which the model has not answered in a kept run."""
    cost: float | None = None
    """In US dollars, of an answer."""
    seconds: float | None = None
    """Of an answer."""
    level: float | None = None
    """The level of a gate `significant` of the run."""


def suites_of(runs: Sequence[Run], root: Path) -> list[MeasuredSuite]:
    """The suites of all models in the newest runs, as far as a run has judged them. Runs are given oldest first."""
    verdicts: dict[CaseName, list[RunVerdict]] = {}
    newest: dict[str, Run] = {}
    for run in runs[-MOST_RUNS:]:
        for name, verdict in verdicts_of(run.file):
            verdicts.setdefault(name, []).append(verdict)
            newest[name[1]] = run
    return [_suite(model, run, runs, verdicts, root) for model, run in sorted(newest.items())]


def _suite(
    model: str, newest: Run, runs: Sequence[Run], verdicts: Mapping[CaseName, Sequence[RunVerdict]], root: Path
) -> MeasuredSuite:
    names = dict.fromkeys(name for name, _ in verdicts_of(newest.file) if name[1] == model)
    measured = {file: _measured(root, file, model) for file in dict.fromkeys(file for file, _, _ in names)}
    known = [_known(verdicts[name], measured[name[0]].get(name[2])) for name in names]
    cases = tuple(each for each in known if each.first.asked)
    answered = [each for run in runs[-MOST_RUNS:] for each in run.results.results if each.model == model]
    return MeasuredSuite(
        model,
        cases,
        sum(name[2] in measured[name[0]] for name, each in zip(names, known, strict=True) if each.first.asked),
        len(names) - len(cases),
        _cost_of_answer(answered),
        _mean(each.seconds for each in answered if each.answered),
        _level_of(newest.file.gates),
    )


def _measured(root: Path, file: str, model: str) -> Mapping[str, Measurement]:
    """The measurements that were accepted; none where they cannot be read."""
    try:
        path = baseline_path(root / file, Model.by_id(model))
        return read_measurement(measurement_path(path)) if path.exists() else {}
    except (OSError, ValueError):
        return {}


def _known(verdicts: Sequence[RunVerdict], measured: Measurement | None) -> KnownCase:
    """The answers to a case as the newest run has it. Where nothing is accepted of it, they are those of all runs."""
    key = verdicts[-1].key
    if measured is not None and key.is_same_case(measured.key):
        found = evidence_of(measured, verdicts, key)
        return KnownCase(_counted(found.first), _counted(found.before))
    first = before = Rate(0, 0)
    for each in verdicts:
        if each.key.is_same_case(key) and each.standing != "regressed":
            first, before = first.plus(each.first), before.plus(each.rate)
    return KnownCase(_counted(first), _counted(before))


def _counted(rate: Rate) -> Rate:
    return rate if 0 <= rate.right <= rate.asked <= _MOST_COUNTED else Rate(0, 0)


def _cost_of_answer(results: Iterable[Result]) -> float | None:
    priced = [each for each in results if each.answered and each.cost is not None]
    answers = sum(each.samples[1] if each.samples else 1 for each in priced)
    cost = known_sum(each.cost for each in priced)
    return cost / answers if cost is not None and answers else None


def _mean(numbers: Iterable[float | None]) -> float | None:
    known = [each for each in numbers if each is not None]
    return sum(known) / len(known) if known else None


def _level_of(gates: Sequence[str]) -> float | None:
    """The largest level of a gate `significant` that is about all cases of a model."""
    levels = []
    for text in gates:
        try:
            found = parse_gates(text)
        except GateError:
            continue
        levels += [float(gate.bound) for gate in found if gate.figure == "significant" and not gate.scope]
    return max(levels, default=None)


def plan_of(
    suite: MeasuredSuite,
    drop: float,
    power: float,
    *,
    cases: int | None = None,
    samples: int = 1,
    level: float | None = None,
) -> Plan:
    """The plan for a suite, or for so many cases like those of the suite. One without cases is assumed to be usual."""
    is_assumed = not suite.cases
    known = suite.cases or _USUAL
    detection = Detection(known if not is_assumed else ())
    base = Design(tuple(islice(cycle(known), cases or len(known))), samples, level or suite.level)
    search = _Search(detection, base, drop, power, suite)
    options = search.options()
    return Plan(
        suite.model,
        drop,
        power,
        base.level,
        SuiteFigures(
            len(suite.cases),
            sum(each.first.asked for each in suite.cases),
            sum(each.first.asked > 1 for each in suite.cases),
            detection.accuracy(known),
            detection.varying(known),
            suite.accepted,
            suite.unmeasured,
            suite.cost,
            suite.seconds,
            is_assumed,
        ),
        len(base.cases),
        samples,
        tuple(search.sights()),
        detection.power(base, "each", 0.0, 2 * runs_of(len(base.cases))),
        tuple(options),
        min(runs_of(count) for count in (len(base.cases), *(each.cases for each in options))),
        KEPT,
    )


_USUAL: Final = (KnownCase(Rate(1, 1), Rate(1, 1)),) * 9 + (KnownCase(Rate(0, 1), Rate(0, 1)),)
"""Cases of which nothing is known: nine of ten right when they were asked once."""


def runs_of(cases: int) -> int:
    """The number of runs that are simulated for a figure of a suite of so many cases."""
    return min(max(_MOST_DRAWN // cases, _LEAST_RUNS), _MOST_SIMULATED)


@dataclass(frozen=True, slots=True)
class _Search:
    """The drops that a suite sees, and those that larger suites would see."""

    detection: Detection
    base: Design
    drop: float
    power: float
    suite: MeasuredSuite

    def sights(self) -> list[Sight]:
        found = [
            Sight(
                title,
                self._seen(self.base, loss, self.drop),
                self._seen(self._later, loss, self.drop),
                self._visible(loss),
            )
            for title, loss in _LOSSES
        ]
        for count in (1, 3):
            if count < len(self.base.cases):
                now, later = (
                    self.detection.power_for_lost(each, count, runs_of(len(each.cases)))
                    for each in (self.base, self._later)
                )
                found.append(Sight(f"{plural_text(count, 'case')}, for good", now, later, has_size=False))
        return found

    @property
    def _later(self) -> Design:
        return replace(self.base, kept=KEPT)

    def _seen(self, design: Design, loss: Loss, drop: float) -> float:
        return self.detection.power(design, loss, drop, runs_of(len(design.cases)))

    def _reaches(self, design: Design, loss: Loss, drop: float) -> bool:
        return self.detection.reaches(design, loss, drop, runs_of(len(design.cases)), self.power)

    def _visible(self, loss: Loss) -> float | None:
        """The smallest drop that is seen with the wanted power, to half a point."""
        low, high = 0, round(self.detection.accuracy(self.base.cases) / _SMALLEST)
        if not self._reaches(self.base, loss, high * _SMALLEST):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            seen = self._reaches(self.base, loss, middle * _SMALLEST)
            low, high = (low, middle) if seen else (middle, high)
        return high * _SMALLEST

    def options(self) -> list[PlanOption]:
        """For each number of samples the smallest suite that sees the drop, as far as one that was tried does."""
        found: list[PlanOption] = []
        for samples in _SAMPLES:
            most = min((each.answers for each in found), default=0) * _DEAR
            if option := self._smallest(samples, most):
                found.append(option)
            if option and option.cases == len(self.base.cases):
                break  # more samples of the same cases see it all the more
        least = min((each.answers for each in found), default=0)
        cheapest = next((each for each in found if each.answers == least), None)
        return [replace(each, is_cheapest=each is cheapest) for each in found]

    def _smallest(self, samples: int, most: int) -> PlanOption | None:
        """The smallest suite with so many samples that sees the drop, and asks for no more than `most` answers."""
        counts = [round(factor * len(self.base.cases)) for factor in _FACTORS]
        counts = [count for count in counts if count <= MOST_CASES and count * samples <= (most or count * samples)]
        sees = partial(self._sees, samples)
        if not counts or not sees(counts[-1]):
            return None
        count = counts[bisect_left(counts[:-1], True, key=sees)]
        answers, cost, seconds = count * samples, self.suite.cost, self.suite.seconds
        return PlanOption(
            count,
            samples,
            self._seen(self._like(count, samples), "each", self.drop),
            None if cost is None else cost * answers,
            None if seconds is None else seconds * answers,
        )

    def _sees(self, samples: int, count: int) -> bool:
        return self._reaches(self._like(count, samples), "each", self.drop)

    def _like(self, count: int, samples: int) -> Design:
        """A suite of so many cases like those of this one, some runs of which are kept."""
        cases = tuple(islice(cycle(self.base.cases), count))
        return replace(self.base, cases=cases, samples=samples, kept=KEPT)
