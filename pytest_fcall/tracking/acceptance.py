"""Verdicts become the baseline: stanzas are accepted and removed, and measurements follow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pytest_fcall.core.backend import APP_KINDS, Model
from pytest_fcall.core.case import Fault
from pytest_fcall.core.values import Json
from pytest_fcall.tracking.baseline_content import write_baseline
from pytest_fcall.tracking.baseline_file import baseline_path, read_baseline
from pytest_fcall.tracking.bookkeeping import (
    measurement_path,
    read_bookkeeping,
    read_measurement,
    write_bookkeeping,
    write_measurement,
)
from pytest_fcall.tracking.contract_lines import facts_of
from pytest_fcall.tracking.history import History, verdicts_of
from pytest_fcall.tracking.measurement import Key, Measurement, RunVerdict, updated_measurement
from pytest_fcall.tracking.revision import revision_of
from pytest_fcall.tracking.run_file import RunFile
from pytest_fcall.tracking.stanza import Stanza


class DamagedBaseline(Exception):
    """A baseline file with faults. It is not written until a person has repaired it."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(fault.message for fault in faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The day on which verdicts are accepted, and the provenance that is stored with them."""

    day: str
    provenance: Mapping[str, Json]

    @classmethod
    def now(cls, root: Path, version: str) -> Acceptance:
        """An acceptance today, in the project at `root`, with this version of the plugin."""
        day = datetime.now(UTC).date().isoformat()
        return cls(day, {"date": day, "plugin": version, **revision_of(root)})

    def accepted_stanza(self, now: Stanza, before: Stanza | None, because: str | None = None) -> Stanza:
        """The stanza to keep: `before`, unless the answer differs, or the question to it."""
        since = known = None
        if not now.valid:
            same = before is not None and not before.valid and sorted(before.reasons) == sorted(now.reasons)
            since = before.since if before and same else self.day
            known = because or (before.because if before and same else None)
        accepted = now._replace(since=since, because=known, provenance={**now.provenance, **self.provenance})
        return before if before and _is_same(before, accepted) else accepted


def accept(path: Path, stanzas: Iterable[Stanza], acceptance: Acceptance, because: str | None = None) -> list[str]:
    """Write verdicts into a baseline, and leave the stanzas of other cases as they are.

    Returns the cases that needed a choice. Where only the question or the counts changed, the bookkeeping is written.
    Raises DamagedBaseline and OSError.
    """
    kept = dict(read_stanzas(path))
    differs, choices = False, list[str]()
    for now in stanzas:  # one by one, and each in the place of the earlier one: there may be a hundred thousand
        before = kept.get(now.case)
        accepted = acceptance.accepted_stanza(now, before, because)
        differs |= accepted is not before
        if before is None or needs_choice(before, accepted):
            choices.append(now.case)
        kept[now.case] = accepted
    if differs:
        write_baseline(path, _removed_one_by_one(kept))
    return choices


def _removed_one_by_one(stanzas: dict[str, Stanza]) -> Iterator[Stanza]:
    """The stanzas; a caller that has taken one is its only holder."""
    while stanzas:
        yield stanzas.pop(next(iter(stanzas)))


class RunMeasurement:
    """Brings the measurements beside baselines up to date with one run: with its right answers, and its wrong ones."""

    def __init__(self, root: Path, run: RunFile, history: History) -> None:
        self._history = history
        self._names: dict[Path, tuple[str, Model]] = {}
        self._verdicts: dict[Path, list[RunVerdict]] = {}
        for (file, model_id, _), verdict in verdicts_of(run):
            model = Model.by_id(model_id)
            path = baseline_path(root / file, model)
            self._names[path] = file, model
            self._verdicts.setdefault(path, []).append(verdict)

    def add_to(self, baseline: Path, accepted: Collection[str]) -> int:
        """Measure all cases of the run that the baseline is of; `accepted` are those whose verdicts were accepted.

        Cases that were not run stay as they were. Without a baseline nothing is measured. Returns the number of cases
        whose measurement changed. Raises OSError.
        """
        if not baseline.exists():
            return 0
        target = measurement_path(baseline)
        kept = read_bookkeeping(target)
        old = kept.measured
        verdicts = self._verdicts.get(baseline, ())
        new = {now.case: self._measured(baseline, old.get(now.case), now, accepted) for now in verdicts}
        if changed := [case for case, measured in new.items() if old.get(case) != measured]:
            write_bookkeeping(target, replace(kept, measured={**old, **new}))
        return len(changed)

    def _measured(
        self, baseline: Path, before: Measurement | None, now: RunVerdict, accepted: Collection[str]
    ) -> Measurement:
        file, model = self._names[baseline]
        earlier = self._history.of(file, model.id, now.case)
        return updated_measurement(before, earlier, now, accepted=now.case in accepted, is_app=model.kind in APP_KINDS)


def remove_cases(path: Path, gone: Callable[[str], bool]) -> list[str]:
    """Remove the cases that are gone from a baseline, and return them. Raises DamagedBaseline and OSError."""
    stanzas = read_stanzas(path)
    left = {case: stanza for case, stanza in stanzas.items() if not gone(case)}
    if len(left) < len(stanzas):
        write_baseline(path, [*left.values()])
    target = measurement_path(path)
    write_measurement(target, [each for case, each in read_measurement(target).items() if not gone(case)])
    return [case for case in stanzas if case not in left]


def read_stanzas(path: Path) -> Mapping[str, Stanza]:
    """The stanzas of a file, by case; none where there is no file. Raises DamagedBaseline."""
    baseline = read_baseline(path)
    if baseline is None:
        return {}
    if faults := baseline.all_faults:
        raise DamagedBaseline(faults)
    return baseline.stanzas


def needs_choice(before: Stanza, now: Stanza) -> bool:
    """Whether a person has to choose: the answer is another one, or the case itself was edited.

    Answers are compared as text, since Python finds 1, 1.0 and true equal.
    """
    edited = bool(before.digests) and not Key.of(before.digests).is_same_case(Key.of(now.digests))
    return edited or facts_of(before) != facts_of(now)


def _is_same(before: Stanza, now: Stanza) -> bool:
    return _rest(before) == _rest(now) and not needs_choice(before, now)


def _rest(stanza: Stanza) -> tuple[object, ...]:
    wire = [request.digests for request in stanza.wire or ()]
    return stanza.digests, stanza.judged, stanza.since, stanza.samples, wire
