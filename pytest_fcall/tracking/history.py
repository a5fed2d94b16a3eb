"""The findings of earlier runs, case by case, for a baseline's measurement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from pytest_fcall.core.json_data import as_mapping, optional_field, required_field
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import MOST_ANSWERS, Outcome, Rate
from pytest_fcall.tracking.measurement import Key, RunVerdict, Standing, failure_way
from pytest_fcall.tracking.run_file import RunFile, RunFileError, moment_of, read_run_by_rows, run_paths
from pytest_fcall.tracking.stanza import parse_stanza

CaseName: TypeAlias = tuple[str, str, str]
"""The path of a case file from the root, a model and a case."""

NamedVerdict: TypeAlias = tuple[CaseName, RunVerdict]
T = TypeVar("T")

MOST_RUNS: Final = 20
"""Most runs that are read, the newest ones: more would say little more, and take time."""
_STANDINGS: Final[Mapping[str | None, Standing]] = {
    Outcome.REGRESSED: "regressed",
    Outcome.UNDECIDED: "undecided",
    Outcome.EDITED: "edited",
}

_NONE: Final[Mapping[str, Rate]] = MappingProxyType({})
_EXCUSED: Final = frozenset({Outcome.KNOWN_FAILURE, Outcome.FLAKY})


class History:
    """The verdicts of kept runs: those of the project, and those in other folders. They are read when first needed."""

    def __init__(self, root: Path, folders: Sequence[Path] = ()) -> None:
        self._root = root
        self._folders = folders
        self._verdicts: Mapping[CaseName, Sequence[RunVerdict]] | None = None
        self.unread: list[str] = []
        """The reasons why files could not be read."""

    def of(self, file: str, model: str, case: str) -> Sequence[RunVerdict]:
        """The verdicts on a case, oldest first."""
        if self._verdicts is None:
            self._verdicts = self._read()
        return self._verdicts.get((file, model, case), ())

    def _read(self) -> Mapping[CaseName, Sequence[RunVerdict]]:
        paths = run_paths(self._root)[-MOST_RUNS:]
        for folder in self._folders:
            paths += sorted(folder.rglob("*.json"), key=lambda path: path.name)[-MOST_RUNS:]
        runs: dict[str, tuple[RunFile, Sequence[NamedVerdict]]] = {}
        shared = _Shared()
        for path in paths:
            try:
                run, rows = read_run_by_rows(path)
                verdicts = [*_verdicts(run, rows, shared)] if run.id not in runs else []
            except RunFileError as error:
                self.unread.append(str(error))
            else:
                runs.setdefault(run.id, (run, verdicts))
        found: dict[CaseName, list[RunVerdict]] = defaultdict(list)
        merged = {part for run, _ in runs.values() for part in run.parts}
        for id_ in sorted(id_ for id_ in runs if id_ not in merged)[-MOST_RUNS:]:
            for name, verdict in runs[id_][1]:
                found[name].append(verdict)
        return found


class _Shared:
    """Equal values of many cases, each held once: twenty runs of 100,000 cases are two million verdicts."""

    def __init__(self) -> None:
        self._values: dict[object, Any] = {}

    def __call__(self, value: T) -> T:
        found: T = self._values.setdefault(value, value)
        return found


def verdicts_of(run: RunFile) -> Iterator[NamedVerdict]:
    """The verdicts of a run; a row that cannot be read says nothing."""
    return _verdicts(run, run.rows, _Shared())


def _verdicts(run: RunFile, rows: Iterable[Json], shared: _Shared) -> Iterator[NamedVerdict]:
    commit, dirty = run.provenance.get("commit"), run.provenance.get("dirty")
    revision = commit if isinstance(commit, str) and not dirty else ""
    moment = moment_of(run.id)
    for row in rows:
        try:
            yield _verdict(as_mapping(row, "a result"), moment, revision, shared)
        except ValueError:
            continue


def _verdict(row: Mapping[str, Json], run: str, revision: str, shared: _Shared) -> NamedVerdict:
    stanza = parse_stanza(required_field(row, "stanza", str))
    outcome = optional_field(row, "outcome", str)
    standing: Standing = "undecided" if optional_field(row, "may_be_chance", bool) else _STANDINGS.get(outcome, "sound")
    rate, again = _new_answers(row, stanza.rate)
    name = required_field(row, "file", str), required_field(row, "model", str), required_field(row, "case", str)
    verdict = RunVerdict(
        shared(name[2]),
        shared(Key.of(stanza.digests)),
        shared(rate),
        standing,
        shared(failure_way(stanza)),
        is_known=outcome in _EXCUSED,
        run=run,
        revision=revision,
        again=shared(again),
        variants=_variants(row) or _NONE,
    )
    return shared(name), verdict


def _variants(row: Mapping[str, Json]) -> Mapping[str, Rate]:
    """The answers to variants of the case, by relation."""
    variants = optional_field(row, "variants", dict)
    found: dict[str, Rate] = {}
    for each in optional_field(variants or {}, "tried", list) or ():
        match each:
            case [str(relation), int(), int(right), int(asked), *_] if 0 <= right <= asked <= MOST_ANSWERS and asked:
                found[relation] = found.get(relation, Rate(0, 0)).plus(Rate(right, asked))
    return found


def _new_answers(row: Mapping[str, Json], rate: Rate) -> tuple[Rate, Rate]:
    """The answers that the model gave in the run, and those among them that were asked for since the first were wrong.

    Those of recordings were counted when they were given. Where only a part of several samples was asked for, it is not
    known which are right, and none counts.
    """
    asked, nothing = optional_field(row, "asked", int), Rate(0, 0)
    again = nothing
    match row.get("first"):
        case [int(right), int(first)] if 0 <= rate.right - right <= rate.asked - first:
            again = rate.minus(Rate(right, first))
    if asked is None or asked == rate.asked:
        return (nothing, nothing) if optional_field(row, "replayed", bool) else (rate, again)
    return (again, again) if asked == again.asked else (nothing, nothing)
