"""Which verdicts of a run are accepted, and where they go."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from pytest_fcall.cli.counting import count
from pytest_fcall.cli.runs import Run
from pytest_fcall.core import Json, Model, Outcome
from pytest_fcall.core.glob import glob_matches
from pytest_fcall.reporting import fault_text, safe_line
from pytest_fcall.reporting.results import Result
from pytest_fcall.tracking.acceptance import Acceptance, DamagedBaseline, accept, may_be_accepted
from pytest_fcall.tracking.baseline_file import baseline_path
from pytest_fcall.tracking.stanza import Stanza, stanza_from_json

Verdict: TypeAlias = tuple[Result, Stanza]


class Accepting:
    """Takes verdicts out of one run, and says what becomes of them."""

    def __init__(self, root: Path, run: Run) -> None:
        self._root = root
        self._acceptance = _acceptance(run)
        self._results = run.results.results
        self.status = 0

    def right(self, names: Sequence[str], outcomes: Sequence[Outcome] | None) -> list[Verdict]:
        """The right answers to the cases of these names, or to all; `outcomes` leaves out others, if it is given."""
        found = list(self._named(names))
        for result, stanza in found if names else ():
            if not stanza.valid:
                self._problem(f"{result.nodeid}: is wrong; --failing takes it as a known failure")
        return [each for each in found if each[1].valid and (outcomes is None or each[0].outcome in outcomes)]

    def failing(self, names: Sequence[str]) -> list[Verdict]:
        """The wrong answers to the cases of these names, which are to be known failures."""
        found = list(self._named(names)) if names else []
        for result, stanza in found:
            if stanza.valid:
                self._problem(f"{result.nodeid}: does not fail")
            elif not may_be_accepted(stanza):
                self._problem(f"{result.nodeid}: a forbidden call is never excused")
        return [each for each in found if not each[1].valid and may_be_accepted(each[1])]

    def accept(self, verdicts: Sequence[Verdict], because: str | None = None) -> None:
        """Write them, and tell of each file."""
        files: dict[Path, list[Stanza]] = {}
        for result, stanza in verdicts:
            if (path := self._path(result)) is not None:
                files.setdefault(path, []).append(stanza)
        for path, stanzas in files.items():
            try:
                changed = accept(path, stanzas, self._acceptance, because)
            except DamagedBaseline as damaged:
                self._problem("\n".join(fault_text(fault, self._root) for fault in damaged.faults))
            else:
                shown = safe_line(path.relative_to(self._root).as_posix())
                print(f"{shown}: {count(len(changed), 'case')} accepted, {len(stanzas) - len(changed)} as before")

    def _named(self, names: Sequence[str]) -> Iterator[Verdict]:
        """The verdicts of cases that have one of these names, or of all; names of nothing are told."""
        used = set()
        for result in self._results:
            fitting = [name for name in names if _fits(name, result)]
            used.update(fitting)
            if (fitting or not names) and (stanza := self._stanza(result, named=bool(fitting))):
                yield result, stanza
        for name in dict.fromkeys(names):
            if name not in used:
                self._problem(f"{name}: there is no such case in this run")

    def _stanza(self, result: Result, *, named: bool) -> Stanza | None:
        if result.stanza is None:
            if named:
                self._problem(f"{result.nodeid}: has no verdict in this run")
            return None
        try:
            return stanza_from_json(result.stanza)
        except ValueError as error:
            self._problem(f"{result.nodeid}: {error}")
            return None

    def _path(self, result: Result) -> Path | None:
        """Where the baseline is. A run file may come from anywhere, and may not lead out of the project."""
        case_file = self._root / result.file
        model = Model.by_id(result.model)
        if not (model.kind.isidentifier() and _is_inside(case_file, self._root)):
            self._problem(f"{result.nodeid}: there is no case file {result.file} in this project")
            return None
        return baseline_path(case_file, model)

    def _problem(self, text: str) -> None:
        print("\n".join(f"fcall accept: {safe_line(line)}" for line in text.split("\n")), file=sys.stderr)
        self.status = 1


def _is_inside(file: Path, folder: Path) -> bool:
    try:
        return file.is_file() and file.resolve().is_relative_to(folder.resolve())
    except ValueError:  # a name that no file can have
        return False


def _fits(name: str, result: Result) -> bool:
    """Whether it is the name of the case, with or without its row and model, or of its file."""
    whole = result.case, result.nodeid
    return any(glob_matches(name, each) for each in (result.file, *whole, *(each.partition("[")[0] for each in whole)))


def _acceptance(run: Run) -> Acceptance:
    """Accept today what was answered when the run was."""
    told: Mapping[str, Json] = run.file.provenance
    known = {"plugin": told.get("pytest_fcall"), **{name: told.get(name) for name in ("commit", "branch", "dirty")}}
    kept = {name: value for name, value in known.items() if isinstance(value, str | bool)}
    return Acceptance(datetime.now(UTC).date().isoformat(), {"date": run.file.started[:10], **kept})
