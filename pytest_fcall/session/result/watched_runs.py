"""Kept runs as nights of their models, and what a watch over them found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Rate
from pytest_fcall.reporting.history import key_of
from pytest_fcall.reporting.night_watch import ChangedCase, NightChange, Shift, WatchedModel
from pytest_fcall.session.result.kept_runs import Run
from pytest_fcall.tracking.drop_evidence import most_changed, total
from pytest_fcall.tracking.history import verdicts_of
from pytest_fcall.tracking.measurement import Key
from pytest_fcall.tracking.night_watch import Bet, Night, Watch, judged_nights, pairs_of
from pytest_fcall.tracking.run_changes import RunChanges

_MOST_ANSWERS: Final = 200
"""Most first answers to a case in one night that are taken for true."""
_MOMENT: Final = re.compile(r"\d{8}-\d{6}")
_SIDES: Final[Mapping[str, str]] = {"commit": "commit", "pytest_fcall": "pytest-fcall", "python": "Python"}
"""Fields of provenance that are compared from night to night, and what they are called."""


class WatchedRuns(NamedTuple):
    """The nights of each model, and runs that are none."""

    by_model: Mapping[str, Sequence[Night]]
    unjudged: Sequence[str]
    """The ids of runs without a new first answer: all were replayed, or there were none."""
    left_out: Sequence[str]
    """Other runs, in sentences."""


def nights_of(runs: Sequence[Run]) -> WatchedRuns:
    """The nights in these runs. Only first answers that a model gave in the run count, by what is kept of them."""
    by_model: dict[str, list[Night]] = {}
    unjudged, nameless, many = [], 0, 0
    for run in runs:
        if not _MOMENT.match(run.file.id):
            nameless += 1
            continue
        answers: dict[str, dict[tuple[str, str], tuple[tuple[str, str], Rate]]] = {}
        for (file, model, case), verdict in verdicts_of(run.file):
            many += verdict.first.asked > _MOST_ANSWERS
            if 0 < verdict.first.asked <= _MOST_ANSWERS and 0 <= verdict.first.right <= verdict.first.asked:
                answers.setdefault(model, {})[file, case] = _version(verdict.key), verdict.first
        for model, found in answers.items():
            by_model.setdefault(model, []).append(Night(run.file.id, found))
        if not answers:
            unjudged.append(run.file.id)
    notes = [f"{plural_text(nameless, 'run')} left out: their ids are no moments"] if nameless else []
    notes += [f"{plural_text(many, 'result')} of over {_MOST_ANSWERS:,} answers each left out"] if many else []
    return WatchedRuns(by_model, unjudged, notes)


def _version(key: Key) -> tuple[str, str]:
    return key.prompt, key.expectation


def watched_models(
    runs: Sequence[Run], nights: Mapping[str, Sequence[Night]], watches: Mapping[str, Watch], level: float
) -> tuple[list[WatchedModel], dict[str, Watch], list[str]]:
    """The findings about each model, the watches with the new nights, and what is left out, in sentences."""
    models, after, notes = [], dict(watches), []
    changes = _changes(runs)
    for model, found in sorted(nights.items()):
        watch = watches.get(model, Watch())
        after[model], late = judged_nights(watch, found, level)
        models.append(_watched(model, watch, after[model], found, changes, level))
        if late:
            later = _moment(watch.last)
            notes.append(f"{model}: {plural_text(len(late), 'run')} left out: that of {later} was judged before")
    return models, after, notes


def _watched(
    model: str,
    before: Watch,
    watch: Watch,
    nights: Sequence[Night],
    changes: Mapping[str, Mapping[str, Sequence[NightChange]]],
    level: float,
) -> WatchedModel:
    def shift(bet: Bet, *, falls: bool) -> Shift:
        pairs = [("::".join(case), pair) for case, pair in pairs_of(watch, nights, bet.began)]
        return Shift(
            watch.fall if falls else watch.rise,
            _moment(bet.began),
            sum(bet.began <= each.run <= bet.until for each in watch.judged),
            total(pair.before for _, pair in pairs),
            total(pair.now for _, pair in pairs),
            tuple(changes.get(bet.began, {}).get(model, ())),
            tuple(ChangedCase(name, pair.before, pair.now) for name, pair in most_changed(pairs, falls=falls)),
        )

    return WatchedModel(
        model,
        level,
        watch.nights,
        watch.nights - before.nights,
        _moment(watch.last),
        tuple(each.fall for each in watch.judged),
        _moment(watch.alarm),
        is_new_alarm=bool(watch.alarm and not before.alarm),
        fall=shift(watch.best_fall, falls=True) if watch.alarm else None,
        rise=shift(watch.best_rise, falls=False) if watch.rise >= 1 / level else None,
    )


def _moment(run: str) -> str:
    """The time of a run as people write it, from its id."""
    return f"{run[:4]}-{run[4:6]}-{run[6:8]} {run[9:11]}:{run[11:13]}" if _MOMENT.match(run) else run


def _changes(runs: Sequence[Run]) -> dict[str, dict[str, list[NightChange]]]:
    """By run and model, what changed since the last run that had the model."""
    found: dict[str, dict[str, list[NightChange]]] = {}
    known: dict[str, RunChanges] = {}
    last: dict[str, Run] = {}
    for run in runs:
        by_model = found.setdefault(run.file.id, {})
        for model in dict.fromkeys(each.model for each in run.results.results):
            rows = [(key_of(each), each.stanza) for each in run.results.results if each.model == model]
            sides = [NightChange(*each) for each in known.setdefault(model, RunChanges()).add(rows)]
            by_model[model] = [*sides, *(_provenance(last[model], run) if model in last else ())]
            last[model] = run
    return found


def _provenance(before: Run, now: Run) -> Iterator[NightChange]:
    for name, title in _SIDES.items():
        old, new = (_short(each.file.provenance.get(name)) for each in (before, now))
        if old and new and old != new:
            yield NightChange(title, f"{old} → {new}")
    if now.file.provenance.get("dirty") is True and before.file.provenance.get("dirty") is not True:
        yield NightChange("commit", "files differ from it")


def _short(value: Json) -> str:
    return value[:12] if isinstance(value, str) else ""
