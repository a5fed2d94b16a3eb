"""Nightly runs of a model, judged one after the other without end: has it become worse, and since which night?

A gambler who starts with 1 and makes only fair bets reaches 20 in at most 1 of 20 lives. Here the 1 is split in
advance among all nights on which something may change, and among some lengths of time after it; each part is bet once,
by `tracking.drop_evidence`, and what it becomes is kept. The sum only grows, and its mean never exceeds 1 while nothing
changes. So it reaches 1 / level with a probability of at most `level`, over any number of nights, whenever it is read.

What is known of each model's nights is kept in `.fcall/watch.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from pytest_fcall.core.files import (
    MOST_KEPT_BYTES,
    PRIVATE_FOLDER,
    PRIVATE_MODE,
    make_private_folder,
    read_regular,
    refuse_way_out,
    replace_file,
)
from pytest_fcall.core.json_data import as_mapping, check_version, optional_field, read_json, required_field
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.drop_evidence import FALLS, RISES, evidence_of
from pytest_fcall.tracking.significance import RatePair

CaseOf: TypeAlias = tuple[str, str]
"""The path of a case file, and a case."""
ModelVersion: TypeAlias = tuple[str, str]
"""Digests of the case's own messages and of its expectation. Answers to another version are not compared."""

LOOKS: Final = (1, 2, 4, 8, 16, 32, 64)
"""Numbers of nights that are held against those before."""
MOST_BEFORE: Final = 128
"""Most nights that they are held against."""
MOST_KEPT: Final = MOST_BEFORE + LOOKS[-1]
"""Nights after which the answers of a night are used no more."""
_EARLY: Final = 30
"""The nights over which the stake is spread almost evenly; later ones get less and less, for there is no last one."""
LARGEST: Final = 1e300
"""The largest evidence: a sum of such numbers is one."""


def stake_of(night: int) -> float:
    """The part of the stake for changes before this night, counted from 2. All parts together are 1."""
    return log(_EARLY) * (1 / log(_EARLY + night - 2) - 1 / log(_EARLY + night - 1))


@dataclass(frozen=True, slots=True)
class Night:
    """The first answers of a run to each case that was asked, right and all."""

    run: str
    """The id of the run. Ids sort by time."""
    answers: Mapping[CaseOf, tuple[ModelVersion, Rate]]


class Bet(NamedTuple):
    """The largest part of what was won."""

    won: float = 0.0
    began: str = ""
    """The run of the night before which something changed, as this bet says."""
    until: str = ""
    """The run of the last night that it is about."""


_NO_BET: Final = Bet()


class JudgedNight(NamedTuple):
    """A night that was judged, and the sums that were reached with it."""

    run: str
    fall: float
    rise: float


@dataclass(frozen=True, slots=True)
class Watch:
    """The nights of a model that were judged, and the evidence of a change from them."""

    since: str = ""
    """Only later runs are judged: those before it were acknowledged."""
    nights: int = 0
    """Nights that were judged."""
    judged: tuple[JudgedNight, ...] = ()
    """The last ones of them, oldest first."""
    best_fall: Bet = _NO_BET
    """The bet on a fall that won most; it says when the fall began."""
    best_rise: Bet = _NO_BET
    alarm: str = ""
    """The run of the night on which the alarm was raised; empty without one."""

    @property
    def fall(self) -> float:
        """The evidence that the model became worse."""
        return self.judged[-1].fall if self.judged else 0.0

    @property
    def rise(self) -> float:
        """The evidence that it became better."""
        return self.judged[-1].rise if self.judged else 0.0

    @property
    def last(self) -> str:
        """The newest run that needs no judging."""
        return self.judged[-1].run if self.judged else self.since


@dataclass(slots=True)
class _Answers:
    """The answers to one version of a case, summed up night by night."""

    version: ModelVersion
    first: int
    """The number of the first night."""
    sums: list[Rate] = field(default_factory=lambda: [Rate(0, 0)])

    def between(self, first: int, last: int) -> Rate:
        """The answers of these nights, both included."""
        low, high = max(first - self.first, 0), min(last - self.first + 1, len(self.sums) - 1)
        return self.sums[high].minus(self.sums[low]) if high > low else Rate(0, 0)

    def add(self, night: int, rate: Rate) -> None:
        self.sums += [self.sums[-1]] * (night - self.first + 1 - len(self.sums))
        self.sums.append(self.sums[-1].plus(rate))


class Nights:
    """The answers of consecutive nights, case by case. A case that was edited begins anew."""

    def __init__(self) -> None:
        self._cases: dict[CaseOf, _Answers] = {}

    def add(self, number: int, night: Night) -> None:
        """Take the answers of the night with this number, which is larger than those before."""
        for case, (version, rate) in night.answers.items():
            if rate.asked:
                known = self._cases.get(case)
                if known is None or known.version != version:
                    known = self._cases[case] = _Answers(version, number)
                known.add(number, rate)

    def pairs(self, began: int, until: int) -> list[tuple[CaseOf, RatePair]]:
        """The answers to each case before the night `began`, and from there on; cases that have both."""
        found = []
        for case, answers in self._cases.items():
            before = answers.between(began - MOST_BEFORE, began - 1)
            now = answers.between(began, until)
            if before.asked and now.asked:
                found.append((case, RatePair(before, now)))
        return found


def judged_nights(watch: Watch, nights: Iterable[Night], level: float) -> tuple[Watch, list[str]]:
    """The watch after these nights, and the runs that came too late to be judged: later ones had been judged before.

    Nights that were judged before may be among them, and are needed as far as they are there: they are what later ones
    are held against. The nights that are missing make the evidence smaller, not wrong.
    """
    ordered = sorted((night for night in nights if night.run > watch.since), key=lambda night: night.run)
    numbers = {each.run: watch.nights - len(watch.judged) + place for place, each in enumerate(watch.judged, 1)}
    oldest = watch.judged[0].run if watch.nights > len(watch.judged) else ""
    late = [night.run for night in ordered if night.run not in numbers and oldest < night.run <= watch.last]
    known = Nights()
    for night in ordered:
        if night.run in numbers:
            known.add(numbers[night.run], night)
        elif night.run > watch.last:
            number = watch.nights + 1
            numbers[night.run] = number
            known.add(number, night)
            watch = _with_night(watch, known, night.run, number, {place: run for run, place in numbers.items()}, level)
    return watch, late


def _with_night(watch: Watch, known: Nights, run: str, number: int, runs: Mapping[int, str], level: float) -> Watch:
    falls, rises = _bets(known, number, runs)
    fall = min(watch.fall + sum(bet.won for bet in falls), LARGEST)
    rise = min(watch.rise + sum(bet.won for bet in rises), LARGEST)
    return replace(
        watch,
        nights=number,
        judged=(*watch.judged, JudgedNight(run, fall, rise))[-MOST_KEPT:],
        best_fall=max(watch.best_fall, *falls),
        best_rise=max(watch.best_rise, *rises),
        alarm=watch.alarm or (run if fall >= 1 / level else ""),
    )


def _bets(known: Nights, number: int, runs: Mapping[int, str]) -> tuple[list[Bet], list[Bet]]:
    """The bets that are decided with the answers of this night: one for each number of nights up to it."""
    falls, rises = [_NO_BET], [_NO_BET]
    for look in LOOKS:
        began = number - look + 1
        if began < 2:
            break
        pairs = [pair for _, pair in known.pairs(began, number)]
        stake = stake_of(began) / len(LOOKS)
        place = runs.get(began, ""), runs[number]
        falls.append(Bet(stake * evidence_of(pairs, FALLS), *place))
        rises.append(Bet(stake * evidence_of(pairs, RISES), *place))
    return falls, rises


def pairs_of(watch: Watch, nights: Sequence[Night], began: str) -> list[tuple[CaseOf, RatePair]]:
    """The answers to each case before the night of the run `began`, and since, of the watched nights."""
    watched = sorted((each for each in nights if watch.since < each.run <= watch.last), key=lambda each: each.run)
    known, place = Nights(), next((at for at, each in enumerate(watched, 1) if each.run >= began), 0)
    for number, night in enumerate(watched, 1):
        known.add(number, night)
    return known.pairs(place, len(watched)) if place else []


def restarted_watch(watch: Watch) -> Watch:
    """A watch that restarts with the next night."""
    return Watch(since=watch.last)


_VERSION: Final = 1
_MOST_NIGHTS: Final = 10**6


class WatchFileError(ValueError):
    """A file that holds no watch, or one of a later version. The text names it, and says what to do."""


def watch_path(root: Path) -> Path:
    """The file of a project."""
    return root / PRIVATE_FOLDER / "watch.json"


def read_watches(path: Path) -> dict[str, Watch]:
    """The watches by model; none where there is no file. Raises WatchFileError."""
    try:
        return _watches(as_mapping(read_json(read_regular(path, MOST_KEPT_BYTES)), "the file"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise WatchFileError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise WatchFileError(f"{path}: {error}; without this file the watch restarts") from None


def write_watches(path: Path, watches: Mapping[str, Watch]) -> None:
    """Write the file as a whole. Raises OSError."""
    make_private_folder(path.parent)
    refuse_way_out(path)
    data = {"fcall_watch": _VERSION, "models": {model: _to_json(each) for model, each in sorted(watches.items())}}
    replace_file(path, [f"{json.dumps(data, indent=1)}\n".encode()], PRIVATE_MODE)


def _to_json(watch: Watch) -> dict[str, Json]:
    return {
        "since": watch.since,
        "nights": watch.nights,
        "judged": [[*each] for each in watch.judged],
        "best_fall": [*watch.best_fall],
        "best_rise": [*watch.best_rise],
        "alarm": watch.alarm,
    }


def _watches(fields: Mapping[str, Json]) -> dict[str, Watch]:
    check_version(fields, "fcall_watch", _VERSION)
    models = required_field(fields, "models", dict)
    return {str(model): _watch(as_mapping(each, "a model")) for model, each in models.items()}


def _watch(fields: Mapping[str, Json]) -> Watch:
    judged = tuple(_night(each) for each in required_field(fields, "judged", list))
    nights = required_field(fields, "nights", int)
    runs = [each.run for each in judged]
    if not len(judged) == min(nights, MOST_KEPT) or nights > _MOST_NIGHTS or runs != sorted({*runs}):
        raise ValueError("the nights that were judged do not fit together")
    return Watch(
        optional_field(fields, "since", str) or "",
        nights,
        judged,
        _bet(fields.get("best_fall")),
        _bet(fields.get("best_rise")),
        optional_field(fields, "alarm", str) or "",
    )


def _night(data: Json) -> JudgedNight:
    match data:
        case [str(run), int() | float() as fall, int() | float() as rise] if run:
            return JudgedNight(run, _evidence(fall), _evidence(rise))
    raise ValueError("a night is not a run and two numbers")


def _bet(data: Json) -> Bet:
    match data:
        case [int() | float() as won, str(began), str(until)]:
            return Bet(_evidence(won), began, until)
    raise ValueError("a bet is not a number and two runs")


def _evidence(number: float) -> float:
    if isinstance(number, bool) or not 0 <= number <= LARGEST:
        raise ValueError("evidence is a number from 0 on")
    return float(number)
