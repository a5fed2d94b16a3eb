"""Searches for the guilty edit among models that answer by chance: how often they name a wrong one, and what they cost.

The search is the one of `fcall bisect`, down to the suspect that asks; only the model is simulated. It is compared with
two others that need no statistics: each edit alone, and halving, both with a fixed number of answers to each question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, cast

from pytest_fcall.bisection.search import Causes, Fails, Trial, find_causes
from pytest_fcall.bisection.version import Difference, Version
from pytest_fcall.core import Case, Location, Reply, Request, Turn, Verdict
from pytest_fcall.core.verdict import Rate
from pytest_fcall.session.ask.model import AskModel
from pytest_fcall.session.ask.types import Answer
from pytest_fcall.session.bisection.bisection import Bisection
from pytest_fcall.session.bisection.suspect import Allowance, EarlierAnswers, Suspect
from pytest_fcall.session.judge.verdict import CaseJudge
from pytest_fcall.tracking.case_rates import CaseRates

_MODEL = "simulated:model"
_MOST_REQUESTS = 2_000


@dataclass(frozen=True)
class World:
    """A case, and what its edits do to it."""

    edits: int
    guilty: frozenset[int]
    """The edits that together make the case worse; none where nothing changed but luck."""
    before: float
    """How often the case is right without them."""
    now: float
    measured: int = 1
    """How often it was asked before it was accepted, and again when it was wrong."""

    def rate(self, trial: Trial) -> float:
        """How often the case is right with some of the edits."""
        return self.now if self.guilty and self.guilty <= trial else self.before


@dataclass
class SimulatedModel:
    """Answers by chance, as the world says, and counts how often it is asked."""

    world: World
    random: Random
    asked: int = 0
    is_asked: bool = field(default=True, init=False)
    replays: bool = field(default=False, init=False)
    is_app: bool = field(default=False, init=False)
    why_unavailable: str = field(default="", init=False)

    def is_recorded(self, request: Request) -> bool:  # noqa: ARG002  # as all models
        return False

    def right(self, trial: Trial) -> bool:
        """One answer."""
        self.asked += 1
        return self.random.random() < self.world.rate(trial)

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        return [Answer(Reply("right" if self.right(_trial_of(each)) else "wrong")) for each in requests]


class SimulatedJudge:
    """Takes the word of the model for it."""

    opinions = None

    def check_inside(self, answers: Sequence[Answer]) -> None:
        """Models have no inside."""

    def judge(self, answers: Sequence[Answer]) -> list[Any]:
        return [_Judged(each, Verdict(each.reply.text == "right", ())) for each in answers]


@dataclass(frozen=True)
class _Judged:
    answer: Answer
    verdict: Verdict


def _request(marks: Sequence[str]) -> Request:
    return Request(({"role": "system", "content": "\n".join(marks)}, {"role": "user", "content": "Hello."}))


def _trial_of(request: Request) -> Trial:
    lines = str(request.messages[0]["content"]).split("\n")
    return frozenset(number for number, line in enumerate(lines) if line.startswith("new"))


def _suspect(world: World, model: SimulatedModel, rates: CaseRates) -> Suspect:
    old, new = (_request([f"{side} {number}" for number in range(world.edits)]) for side in ("old", "new"))
    difference = Difference(Version(_MODEL, old), Version(_MODEL, new))
    assert len(difference.edits) == world.edits
    case = Case("case", Location("simulated.fc.yaml", 1), (Turn(new.messages),))
    models: Mapping[str, AskModel] = {_MODEL: cast("AskModel", model)}
    judge = cast("CaseJudge", SimulatedJudge())
    measured = EarlierAnswers(rates, *_accepted(world, model))
    return Suspect("case", Path("simulated.fc.yaml"), case, models, difference, lambda _: judge, measured)


def _accepted(world: World, model: SimulatedModel) -> tuple[Rate, Rate]:
    """What is measured when a person looks for the edit: the case was right first, and is wrong now."""
    everything = frozenset(range(world.edits))
    before = [True, *(model.right(frozenset()) for _ in range(world.measured - 1))]
    now = [False, *(model.right(everything) for _ in range(world.measured - 1))]
    return Rate(sum(before), len(before)), Rate(sum(now), len(now))


@dataclass
class Outcome:
    """What searches of one kind came to."""

    searches: int = 0
    wrong: int = 0
    """Named another set than the guilty one."""
    found: int = 0
    asked: int = 0

    def add(self, named: Sequence[Trial] | None, world: World, asked: int) -> None:
        """Count a search that named these causes; None where it named none."""
        self.searches += 1
        self.asked += asked
        if named is not None:
            is_right = [*named] == [world.guilty]
            self.found += is_right
            self.wrong += not is_right


def searched(world: World, rates: CaseRates, random: Random, found: Outcome) -> None:
    """Search as `fcall bisect` does."""
    model = SimulatedModel(world, random)
    suspect = _suspect(world, model, rates)
    model.asked = 0
    (result,) = Bisection([suspect]).run(Allowance(_MOST_REQUESTS, may_ask=True))
    places = {edit.key: place for place, edit in enumerate(suspect.difference.edits)}
    named = None
    if result.status == "found":
        named = [
            frozenset(places[edit.where, edit.before, edit.after] for edit in each.edits) for each in result.causes
        ]
    found.add(named, world, model.asked)


def each_alone(world: World, answers: int, random: Random, found: Outcome) -> None:
    """Ask for each edit alone, so often, and name all that fail most of the time."""
    model = SimulatedModel(world, random)
    bad = [place for place in range(world.edits) if _fails(model, frozenset({place}), answers)]
    found.add([frozenset({place}) for place in bad] if bad else None, world, model.asked)


def halved(world: World, answers: int, random: Random, found: Outcome) -> None:
    """Halve the edits as `git bisect` does, with so many answers to each question; most of them decide."""
    model = SimulatedModel(world, random)
    everything = frozenset(range(world.edits))
    if not _fails(model, everything, answers) or _fails(model, frozenset(), answers):
        found.add(None, world, model.asked)
        return
    causes = Causes()
    known: dict[Trial, Fails] = {frozenset(): False, everything: True}
    search = find_causes(everything, causes, known)
    try:
        trial = next(search)
        while True:
            if trial not in known:
                known[trial] = _fails(model, trial, answers)
            trial = search.send(known[trial])
    except StopIteration:
        pass
    found.add([cause.edits for cause in causes.found], world, model.asked)


def _fails(model: SimulatedModel, trial: Trial, answers: int) -> bool:
    return 2 * sum(model.right(trial) for _ in range(answers)) < answers


Search = Callable[[World, Random, Outcome], None]
USUAL = CaseRates.estimated([])


def search_of(name: str) -> Search:
    """A search by its name in the table."""
    if name == "bisect":
        return lambda world, random, found: searched(world, USUAL, random, found)
    kind, _, count = name.partition(" ")
    other = {"alone": each_alone, "halving": halved}[kind]
    return lambda world, random, found: other(world, int(count), random, found)


SEARCHES = ("bisect", "alone 1", "alone 5", "halving 1", "halving 5")
WORLDS: Mapping[str, tuple[int, int, float, float, int]] = {
    "10 edits, 1 guilty, always → never": (10, 1, 1.0, 0.0, 1),
    "10 edits, 1 guilty, 95 % → 20 %": (10, 1, 0.95, 0.2, 5),
    "10 edits, 1 guilty, 90 % → 50 %": (10, 1, 0.9, 0.5, 10),
    "40 edits, 1 guilty, 95 % → 20 %": (40, 1, 0.95, 0.2, 5),
    "10 edits, 2 together, 95 % → 10 %": (10, 2, 0.95, 0.1, 5),
    "10 edits, none guilty, 80 %": (10, 0, 0.8, 0.8, 1),
}
"""Edits, guilty ones, how often the case is right before and now, and how often it was asked when it was accepted."""


def outcome_of(world: str, search: str, searches: int, seed: int = 1) -> Outcome:
    """Simulate so many searches; which edits are guilty is drawn by lot."""
    edits, guilty, before, now, measured = WORLDS[world]
    random, found = Random(seed), Outcome()  # noqa: S311  # nothing is secret here
    search_once = search_of(search)
    for _ in range(searches):
        chosen = frozenset(random.sample(range(edits), guilty))
        search_once(World(edits, chosen, before, now, measured), random, found)
    return found


def print_edit_searches(searches: int) -> None:
    """Print the table: of each search the share of wrong results, of right ones, and the requests."""
    heads = [f"{name}: wrong | right | requests" for name in SEARCHES]
    print(f"\n{searches} searches a row: what they name, and the mean number of requests\n")
    print(f"| edits | {' | '.join(heads)} |\n|{'---|' * (1 + 3 * len(SEARCHES))}", flush=True)
    for world in WORLDS:
        cells = []
        for name in SEARCHES:
            found = outcome_of(world, name, searches)
            shares = [f"{100 * count / searches:.1f} %" for count in (found.wrong, found.found)]
            cells += [*shares, f"{found.asked / searches:.0f}"]
        print(f"| {world} | {' | '.join(cells)} |", flush=True)
