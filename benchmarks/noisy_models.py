"""Models that answer by chance, and what runs of their cases conclude: with the code that judges real runs.

A world is a model: for each case the probability of a right answer, of which the runs know nothing. A wrong answer is
wrong in one of three ways. A history is what a team does with the runs: what it accepts, and which runs it keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeAlias

from pytest_fcall.core import Call, Case, Expectation, ExpectedCall, Location, Outcome, Rules, Turn, Verdict
from pytest_fcall.core.verdict import Rate
from pytest_fcall.session.judge.doubt import FALSE_ALARMS, LEAST_BUDGET
from pytest_fcall.session.result.model_change import worse_level
from pytest_fcall.session.settings import Confirm
from pytest_fcall.tracking.case_rates import CaseRates
from pytest_fcall.tracking.comparison import CaseJudgement, ChanceTest, EarlierFacts, compare_verdict
from pytest_fcall.tracking.history import MOST_RUNS
from pytest_fcall.tracking.measurement import (
    CaseEvidence,
    Key,
    Measurement,
    RunVerdict,
    Standing,
    evidence_of,
    failure_way,
    updated_measurement,
)
from pytest_fcall.tracking.significance import RatePair, p_value_worse, weigh_by_steadiness
from pytest_fcall.tracking.stanza import Stanza

Rates: TypeAlias = Sequence[float]
Habit: TypeAlias = Literal["once", "often", "last of five", "a part", "sampled", "no history"]

_DIGESTS = {"prompt": "0" * 8, "expectation": "1" * 8}
_KEY = Key.of(_DIGESTS)
_CITIES = ("Oslo", "Rome", "Bern", "Riga")
"""The right answer, and three wrong ones."""
_CASE = Case(
    "case",
    Location("simulated.fc.yaml", 1),
    (Turn((), Expectation(stages=((ExpectedCall("get_weather", {"city": "Oslo"}),),))),),
    rules=Rules(),
)


def _mixture(*parts: tuple[float, float, float]) -> Callable[[Random], float]:
    """Rates of which a share each is drawn evenly from a range."""

    def draw(random: Random) -> float:
        place = random.random()
        for share, low, high in parts:
            if place < share:
                return random.uniform(low, high)
            place -= share
        return parts[-1][2]

    return draw


WORLDS: Mapping[str, Callable[[Random], float]] = {
    "uniform": _mixture((1.0, 0.5, 1.0)),
    "realistic": _mixture((0.7, 1.0, 1.0), (0.3, 0.5, 1.0)),
    "steady": _mixture((0.9, 1.0, 1.0), (0.1, 0.8, 1.0)),
    "wild": _mixture((0.6, 1.0, 1.0), (0.1, 0.0, 0.0), (0.3, 0.1, 0.9)),
}


def _bad_hour(rates: Rates, _: int, random: Random) -> Rates:
    """Every tenth run falls into an hour in which the provider answers worse."""
    return [0.9 * rate for rate in rates] if random.random() < 0.1 else rates


def _slow_drift(rates: Rates, number: int, _: Random) -> Rates:
    """Each run is a fifth of a point worse than the one before."""
    return [max(rate - 0.002 * number, 0.0) for rate in rates]


WEATHERS: Mapping[str, Callable[[Rates, int, Random], Rates]] = {"bad hours": _bad_hour, "slow drift": _slow_drift}
"""Worlds whose cases are realistic, and change together."""
HABITS: Mapping[Habit, str] = {
    "once": "right answers of the first run, and all runs are kept",
    "often": "right answers after every run",
    "last of five": "right answers of the fifth run of the same",
    "a part": "right answers of a third of the cases after every run",
    "sampled": "right answers of a run of five samples",
    "no history": "right answers of the first run, and no run is kept",
}


@dataclass(slots=True)
class Conclusion:
    """What a run concludes."""

    regressed: int = 0
    undecided: int = 0
    failed: int = 0
    """Cases that failed before, too, and are not accepted."""
    is_worse: bool = False
    asked: int = 0
    lost: int = 0
    """Cases that were right when they were accepted, and are wrong: what a simple tool looks at."""
    right: int = 0

    @property
    def is_red(self) -> bool:
        """Whether the run fails by a change."""
        return self.regressed > 0 or self.is_worse


@dataclass(slots=True)
class Project:
    """Cases of one model, and what a team has kept of their runs."""

    cases: int
    random: Random
    measured: dict[int, Measurement] = field(default_factory=dict)
    contract: dict[int, Stanza] = field(default_factory=dict)
    runs: list[list[RunVerdict]] = field(default_factory=list)
    number: int = 0
    """Number of runs so far."""
    weather: Callable[[Rates, int, Random], Rates] = lambda rates, *_: rates
    """The rates in one run, where all of them change together."""

    def run(self, rates: Rates, samples: int = 1) -> Conclusion:
        """Ask all cases, and those again that seem to have regressed. The run is kept as the newest."""
        self.number += 1
        rates = self.weather(rates, self.number, self.random)
        found, verdicts = Conclusion(), []
        evidence = self.evidence()
        test = ChanceTest(
            CaseRates.estimated(each.before for each in evidence.values()),
            FALSE_ALARMS / self.cases,
            samples + Confirm().most,
            Outcome.UNDECIDED,
        )
        budget = max((Confirm().budget or 0) * self.cases, LEAST_BUDGET)
        pairs = []
        for place, rate in enumerate(rates):
            answers = [self._answer(rate) for _ in range(samples)]
            outcome, budget = self._judge(place, rate, answers, evidence, test, budget)
            first = Rate(answers[:samples].count("Oslo"), samples)
            if place in evidence:
                pairs.append(RatePair(evidence[place].first, first))
            found.asked += len(answers)
            found.right += first.right == samples
            found.lost += first.right < samples and place in self.contract
            found.regressed += outcome is Outcome.REGRESSED
            found.undecided += outcome is Outcome.UNDECIDED
            found.failed += outcome is Outcome.NEW and first.right < samples
            verdicts.append(self._verdict(place, answers, first, outcome))
        found.is_worse = bool(pairs) and p_value_worse(pairs, weigh_by_steadiness) <= worse_level(pairs)
        self.runs.append(verdicts)
        return found

    def accept(self, cases: Iterable[int]) -> None:
        """Accept what the last run found right of these cases."""
        *earlier, now = self.runs
        right = {int(each.case) for each in now if each.rate.right == each.rate.asked}
        accepted = right.intersection(cases)
        for place in accepted:
            self.contract[place] = self._stanza(place, ["Oslo"] * now[place].rate.asked, now[place].rate)
        for place, verdict in enumerate(now):
            before, others = self.measured.get(place), [run[place] for run in earlier]
            self.measured[place] = updated_measurement(
                before, others, verdict, accepted=place in accepted, is_app=False
            )

    def copy(self) -> Project:
        """The same project, whose next run changes nothing in this one."""
        others = (dict(self.measured), dict(self.contract), list(self.runs))
        return Project(self.cases, self.random, *others, self.number, self.weather)

    def evidence(self) -> dict[int, CaseEvidence]:
        """What is known of each case before the next run."""
        kept = self.runs[-MOST_RUNS:]
        return {
            place: evidence_of(measured, [run[place] for run in kept], _KEY)
            for place, measured in self.measured.items()
        }

    def _judge(
        self,
        place: int,
        rate: float,
        answers: list[str],
        evidence: Mapping[int, CaseEvidence],
        test: ChanceTest,
        budget: float,
    ) -> tuple[Outcome, float]:
        first, portion = Rate(answers.count("Oslo"), len(answers)), 1
        known = EarlierFacts(self.contract.get(place), self.measured.get(place), lambda: evidence.get(place))
        while True:
            stanza = self._stanza(place, answers, first)
            ways = frozenset(_way(city) for city in answers)
            judged = CaseJudgement(stanza, _verdict_on(stanza), ways)
            comparison = compare_verdict(judged, known, _CASE, _verdict_on, lambda: test)
            more = int(min(portion, test.most - len(answers), budget))
            if not comparison.is_open or more < 1:
                return comparison.outcome, budget
            answers += [self._answer(rate) for _ in range(more)]
            budget, portion = budget - more, 2 * portion

    def _answer(self, rate: float) -> str:
        return "Oslo" if self.random.random() < rate else self.random.choice(_CITIES[1:])

    def _stanza(self, place: int, answers: Sequence[str], first: Rate) -> Stanza:
        is_right = first.right == first.asked
        shown = next((city for city in answers if (city == "Oslo") is is_right), answers[0])
        return Stanza(
            str(place),
            valid=is_right,
            reasons=_reasons(shown),
            calls=(Call("get_weather", {"city": shown}),),
            samples=(answers.count("Oslo"), len(answers)) if len(answers) > 1 else None,
            digests=_DIGESTS,
        )

    def _verdict(self, place: int, answers: Sequence[str], first: Rate, outcome: Outcome) -> RunVerdict:
        standings: Mapping[Outcome, Standing] = {Outcome.REGRESSED: "regressed", Outcome.UNDECIDED: "undecided"}
        rate = Rate(answers.count("Oslo"), len(answers))
        return RunVerdict(
            str(place),
            _KEY,
            rate,
            standings.get(outcome, "sound"),
            failure_way(self._stanza(place, answers, first)),
            is_known=outcome in (Outcome.KNOWN_FAILURE, Outcome.FLAKY),
            run=f"{self.number:06}",
            again=rate.minus(first),
        )


def _reasons(city: str) -> tuple[tuple[str, str], ...]:
    return () if city == "Oslo" else (("wrong_value", "calls[0].args.city"),)


def _verdict_on(stanza: Stanza) -> Verdict:
    (call,) = stanza.calls or ()
    return Verdict(call.arguments["city"] == "Oslo")


def _way(city: str) -> str:
    calls = (Call("get_weather", {"city": city}),)
    return failure_way(Stanza("", valid=city == "Oslo", reasons=_reasons(city), calls=calls))


def rates_of(world: str, cases: int, random: Random) -> list[float]:
    """The rates of the cases of a model."""
    draw = WORLDS["realistic" if world in WEATHERS else world]
    return [draw(random) for _ in range(cases)]


def accepted_project(rates: Rates, habit: Habit, random: Random, world: str = "") -> Project:
    """A project whose team has accepted what was right, as is its habit."""
    project = Project(len(rates), random)
    project.weather = WEATHERS.get(world, project.weather)
    for _ in range(4 if habit == "last of five" else 0):
        project.run(rates)
    project.run(rates, 5 if habit == "sampled" else 1)
    project.accept(range(len(rates)))
    if habit == "no history":
        project.runs.clear()
    return project


def accept_by_habit(project: Project, habit: Habit) -> None:
    """Accept after a run what a team of this habit accepts."""
    if habit == "often":
        project.accept(range(project.cases))
    elif habit == "a part":
        project.accept(project.random.sample(range(project.cases), project.cases // 3))
    elif habit == "no history":
        project.runs.clear()
