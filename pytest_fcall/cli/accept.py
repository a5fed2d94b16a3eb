"""`fcall accept`: verdicts of a run become the baseline, without asking a model; after a merge, one of two answers."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.project import root_of
from pytest_fcall.cli.runs import open_runs
from pytest_fcall.core.backend import Model
from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.files import case_file_of, path_from_root
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Outcome
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.results import Result, lacks_secret
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.result.kept_runs import Run
from pytest_fcall.tracking.acceptance import (
    Acceptance,
    DamagedBaseline,
    RunMeasurement,
    accept,
    needs_choice,
    read_stanzas,
)
from pytest_fcall.tracking.baseline_file import SUFFIX, baseline_path, contracts_below
from pytest_fcall.tracking.bookkeeping import measurement_path
from pytest_fcall.tracking.history import History
from pytest_fcall.tracking.merged_baseline import MergeResult, Side, mend_baseline
from pytest_fcall.tracking.run_file import runs_folder
from pytest_fcall.tracking.stanza import Stanza, parse_stanza

if TYPE_CHECKING:
    from pytest_fcall.cli.accept_by_hand import BaselineChange

_JudgedResult: TypeAlias = tuple[Result, Stanza]

_RIGHT = "right, and no known failure"
_WRONG = "wrong; use --failing to accept a known failure"
_SELECTABLE = (Outcome.FIXED, Outcome.NEW, Outcome.EDITED, Outcome.DRIFTED)

_SIDES: Mapping[Side, str] = {
    "ours": "keep the answer of this branch, which is the first in the file",
    "theirs": "keep the answer of the merged branch, which is the last",
    "both": "keep both sides of a conflict about different cases, and name the cases that need a choice",
}

_EXAMPLES = """\
examples:
  fcall accept                                   all right answers of the last run
  fcall accept --only fixed                      only cases that were wrong before
  fcall accept oslo 'paris-*'                    only these cases
  fcall accept run.json                          another run, such as an artifact of CI
  fcall accept -i                                show what changed, case by case, and ask
  fcall accept --failing oslo --because "the model knows no Norwegian"
  fcall accept --failing 'oslo*' --because "…"   those of them that are wrong
  fcall accept --theirs oslo                     after a merge: their answer to this case, of two

CASE is an id, a node id or a case file; `*` matches any characters. The baseline is in __fcall__/MODEL/ beside the case
file. Commit it: later runs are compared with it.
"""
_LONGEST_SHOWN = 100


def run(arguments: Sequence[str]) -> int:
    """Accept verdicts; 1 where a named case cannot be accepted, or a baseline cannot be written."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.side:
        if options.only or options.failing or options.because or options.interactive:
            parser.error(f"--{options.side} is about what is accepted already, and takes nothing but cases")
        return _mend_baselines(root_of([Path.cwd()]), options.side, options.names)
    if bool(options.failing) != bool(options.because):
        parser.error("--failing and --because must be given together")
    files = [name for name in options.names if name.endswith(".json")]
    names = [name for name in options.names if name not in files]
    if len(files) > 1:
        parser.error(f"only one run can be accepted at a time, not {' and '.join(files)}")
    (opened,) = open_runs(parser, files, least=1)
    acceptor = _VerdictAcceptor(root_of([Path.cwd()]), opened)
    only_failing = options.failing and not (names or options.only)
    valid = [] if only_failing else acceptor.valid_verdicts(names, options.only)
    failing = acceptor.failing_verdicts(options.failing)
    if options.interactive:
        from pytest_fcall.cli.accept_by_hand import chosen_by_hand

        changes, same_answers = acceptor.changes(valid)
        found = len(changes) + len(same_answers)
        valid = [*same_answers, *chosen_by_hand(changes, opened.path)]
    else:
        found = len(valid)
    acceptor.accept(valid)
    acceptor.accept(failing, options.because)
    if not (found or failing or acceptor.problems):
        print("nothing to accept")
    return 1 if acceptor.problems else 0


def _parser() -> ArgumentParser:
    parser = command_parser("accept", "Accept results of a run into the baseline. No model is asked.", _EXAMPLES)
    parser.add_argument(
        "names", nargs="*", metavar="CASE|RUN.json", help="cases (default: all), and a run (default: the last one)"
    )
    parser.add_argument(
        "--only",
        type=_outcomes,
        metavar="OUTCOMES",
        help=f"only cases with these outcomes, separated by commas: {', '.join(_SELECTABLE)}",
    )
    parser.add_argument("--failing", nargs="+", default=[], metavar="CASE", help="cases to accept as known failures")
    parser.add_argument("--because", metavar="TEXT", help="the reason of the known failures, shown in every run")
    parser.add_argument("-i", dest="interactive", action="store_true", help="show what changed, and ask")
    merged = parser.add_argument_group(
        "after a merge", "Choose between two accepted answers to a case, in all baselines."
    )
    sides = merged.add_mutually_exclusive_group()
    for side, text in _SIDES.items():
        sides.add_argument(f"--{side}", dest="side", action="store_const", const=side, help=text)
    return parser


def _outcomes(text: str) -> tuple[Outcome, ...]:
    words = [word.strip() for word in text.split(",")]
    if unknown := [word for word in words if word not in _SELECTABLE]:
        raise ArgumentTypeError(f"unknown outcome {unknown[0]!r}; available: {', '.join(_SELECTABLE)}")
    return tuple(map(Outcome, words))


class _VerdictAcceptor:
    """Selects verdicts of one run and writes them into baselines. Problems are printed and counted."""

    def __init__(self, root: Path, run: Run) -> None:
        self._root = root
        self._acceptance = _acceptance_of(run)
        self._results = run.results.results
        self._measurement = RunMeasurement(root, run.file, History(root, _history_folders(root, run)))
        self._baseline_path = lru_cache(_baseline_path)  # many results share a file and a model
        self._accepted = lru_cache(_accepted)
        self.problems = 0

    def valid_verdicts(self, names: Sequence[str], outcomes: Sequence[Outcome] | None) -> list[_JudgedResult]:
        """The right answers to the named cases, or to all; `outcomes`, if given, restricts them."""
        verdicts = list(self._verdicts(names))
        self._tell_of_others(names, verdicts, valid=True)
        for result, stanza in verdicts if names else ():
            if stanza.valid and result.has_forbidden_call:
                self._report(f"{result.nodeid}: a variant has a forbidden call, with which no case can be accepted")
        right = [each for each in verdicts if each[1].valid and not each[0].has_forbidden_call]
        return [each for each in right if outcomes is None or each[0].outcome in outcomes]

    def failing_verdicts(self, names: Sequence[str]) -> list[_JudgedResult]:
        """The wrong answers to the named cases, which become known failures."""
        verdicts = list(self._verdicts(names)) if names else []
        self._tell_of_others(names, verdicts, valid=False)
        for result, stanza in verdicts:
            if stanza.has_forbidden_call:
                self._report(f"{result.nodeid}: a forbidden call cannot be accepted")
        return [each for each in verdicts if not each[1].valid and not each[1].has_forbidden_call]

    def _tell_of_others(self, names: Sequence[str], verdicts: Sequence[_JudgedResult], *, valid: bool) -> None:
        """Print how many of the named answers are of the other kind. A name that stands for no others is a problem."""
        others = {result.nodeid for result, stanza in verdicts if stanza.valid is not valid}
        printed: set[str] = set()
        for name in dict.fromkeys(names):
            named = [result.nodeid for result, _ in verdicts if _is_named_by(name, result)]
            if named and others.issuperset(named):
                printed.update(named)
                who = f"{named[0]}: the answer is" if len(named) == 1 else f"{name}: all {len(named)} answers are"
                self._report(f"{who} {_WRONG if valid else _RIGHT}")
        if names and (left_out := others - printed):
            what = "wrong (--failing accepts known failures)" if valid else "right already"
            print(f"left out: {plural_text(len(left_out), 'case')}, {what}")

    def changes(self, verdicts: Sequence[_JudgedResult]) -> tuple[list[BaselineChange], list[_JudgedResult]]:
        """The verdicts that need a choice, and those whose answer is the accepted one to another question."""
        from pytest_fcall.cli.accept_by_hand import BaselineChange

        changes, same_answers = [], []
        for result, stanza in verdicts:
            path = self._baseline_path(self._root, result.file, result.model)
            before = self._accepted(path).get(stanza.case) if path else None
            now = self._acceptance.accepted_stanza(stanza, before)
            if before is None or needs_choice(before, now):
                changes.append(BaselineChange(result, before, stanza))
            elif now is not before:
                same_answers.append((result, stanza))
        return changes, same_answers

    def accept(self, verdicts: Sequence[_JudgedResult], because: str | None = None) -> None:
        """Write verdicts, and print what changed in each file."""
        baselines: dict[Path, list[Stanza]] = {}
        for result, stanza in verdicts:
            if (path := self._baseline_path(self._root, result.file, result.model)) is None:
                self._report(f"{result.nodeid}: no case file {result.file} in this project")
            else:
                baselines.setdefault(path, []).append(stanza)
        for path, stanzas in baselines.items():
            try:
                changed = accept(path, stanzas, self._acceptance, because)
                measured = self._measurement.add_to(path, {stanza.case for stanza in stanzas})
            except DamagedBaseline as damaged:
                self._report("\n".join(fault_text(fault, self._root) for fault in damaged.faults))
            except OSError as error:
                self._report(f"{path_from_root(path, self._root)}: not written: {error.strerror}: {error.filename}")
            else:
                name = safe_line(path_from_root(path, self._root))
                print(f"{name}: {plural_text(len(changed), 'case')} accepted, {len(stanzas) - len(changed)} unchanged")
                if measured:
                    name = safe_line(path_from_root(measurement_path(path), self._root))
                    print(f"{name}: {plural_text(measured, 'case')} measured (bookkeeping, which needs no review)")

    def _verdicts(self, names: Sequence[str]) -> Iterator[_JudgedResult]:
        """The verdicts of the cases that one of the names matches, or of all. Reports names without a case."""
        used = set()
        for result in self._results:
            matching = [name for name in names if _is_named_by(name, result)]
            used.update(matching)
            if (matching or not names) and (stanza := self._stanza(result, named=bool(matching))):
                yield result, stanza
        for name in dict.fromkeys(names):
            if name not in used:
                self._report(f"{name}: no such case in this run")

    def _stanza(self, result: Result, *, named: bool) -> Stanza | None:
        if result.stanza is None:
            if named:
                self._report(f"{result.nodeid}: no verdict in this run")
            return None
        if lacks_secret(result):
            self._report(f"{result.nodeid}: a secret had to be left out of the answer, which cannot be accepted")
            return None
        try:
            return parse_stanza(result.stanza)
        except ValueError as error:
            self._report(f"{result.nodeid}: {error}")
            return None

    def _report(self, text: str) -> None:
        print("\n".join(f"fcall accept: {safe_line(line)}" for line in text.split("\n")), file=sys.stderr)
        self.problems += 1


def _baseline_path(root: Path, file: str, model_id: str) -> Path | None:
    """The baseline of a case file; None where a run file from elsewhere leads out of the project."""
    path, model = root / file, Model.by_id(model_id)
    try:
        inside = path.is_file() and path.resolve().is_relative_to(root.resolve())
    except ValueError:  # not a valid file name
        return None
    return baseline_path(path, model) if inside and model.kind.isidentifier() else None


def _accepted(path: Path) -> Mapping[str, Stanza]:
    """The accepted stanzas; none of a damaged baseline, which is reported where it is to be written."""
    try:
        return read_stanzas(path)
    except DamagedBaseline:
        return {}


def _history_folders(root: Path, run: Run) -> list[Path]:
    """The folders with earlier runs that a run of this project has read. A file from elsewhere names none."""
    found = run.file.provenance.get("history")
    own = run.path.parent == runs_folder(root)
    return [Path(str(folder)) for folder in found] if own and isinstance(found, list) else []


def _is_named_by(name: str, result: Result) -> bool:
    """Whether the name matches the case id or node id, with or without its row and model, or the case file."""
    whole = result.case, result.nodeid
    return any(glob_matches(name, each) for each in (result.file, *whole, *(each.partition("[")[0] for each in whole)))


def _acceptance_of(run: Run) -> Acceptance:
    """An acceptance of today, with the provenance of the run."""
    provenance: Mapping[str, Json] = run.file.provenance
    fields = {
        "plugin": provenance.get("pytest_fcall"),
        **{name: provenance.get(name) for name in ("commit", "branch", "dirty")},
    }
    known = {name: value for name, value in fields.items() if isinstance(value, str | bool)}
    return Acceptance(datetime.now(UTC).date().isoformat(), {"date": run.file.started[:10], **known})


def _mend_baselines(root: Path, side: Side, names: Sequence[str]) -> int:
    """Choose between the answers of a merge in all baselines of the project; 1 where something is left to do.

    `names` are cases and case files to choose for; without any, the choice is made for all.
    """
    problems = done = 0
    used: set[str] = set()
    for path in contracts_below(root):
        name = safe_line(path_from_root(path, root))
        file = path_from_root(case_file_of(path, SUFFIX), root)

        def is_meant(case: str, file: str = file) -> bool:
            matching = [
                each for each in names if any(glob_matches(each, text) for text in (case, file, f"{file}::{case}"))
            ]
            used.update(matching)
            return bool(matching) or not names

        try:
            mended = mend_baseline(path, side, is_meant)
        except OSError as error:
            print(f"fcall accept: {name}: {error.strerror}", file=sys.stderr)
            problems += 1
            continue
        lines = list(_mended_lines(mended, side))
        done += bool(lines)
        print(*(f"{name}: {line}" for line in lines), sep="\n", end="\n" if lines else "")
        problems += bool(mended.undecided or mended.torn or mended.left_out)
    for name in dict.fromkeys(names):
        if name not in used:
            print(f"fcall accept: {safe_line(name)}: no baseline has a choice to make for it", file=sys.stderr)
            problems += 1
    if not (problems or done):
        print("no baseline needs a choice")
    return 1 if problems else 0


def _mended_lines(mended: MergeResult, side: Side) -> Iterator[str]:
    if mended.chosen:
        yield f"{side} of {plural_text(len(mended.chosen), 'case')}: {_case_list(mended.chosen)}"
    if mended.undecided:
        yield f"still two answers to {_case_list(mended.undecided)}; choose with --ours CASE or --theirs CASE"
    for case in mended.torn:
        yield (
            f"{safe_line(case)}: the answer is not whole in the file, since the merge mixed the two; "
            "choose the other, or run pytest and accept the answer again"
        )
    for line in mended.left_out:
        shown = line.text if len(line.text) <= _LONGEST_SHOWN else f"{line.text[:_LONGEST_SHOWN]}…"
        yield f"line {line.number} left out: {safe_line(shown)}"
    if mended.is_changed and not (mended.chosen or mended.undecided or mended.torn or mended.left_out):
        yield "cleaned; nothing had to be chosen"


def _case_list(cases: Sequence[str]) -> str:
    return ", ".join(map(safe_line, cases))
