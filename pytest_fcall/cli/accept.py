"""`fcall accept`: verdicts of a run become the baseline, and no model is asked again."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from pytest_fcall.cli.counting import count
from pytest_fcall.cli.project import root_of
from pytest_fcall.cli.runs import Run, open_runs
from pytest_fcall.core import Json, Model, Outcome
from pytest_fcall.core.glob import glob_matches
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.tracking.acceptance import Acceptance, DamagedBaseline, accept
from pytest_fcall.tracking.baseline_file import baseline_path
from pytest_fcall.tracking.stanza import Stanza, stanza_from_json

JudgedResult: TypeAlias = tuple[Result, Stanza]


class VerdictAcceptor:
    """Takes verdicts out of one run, and says what becomes of them."""

    def __init__(self, root: Path, run: Run) -> None:
        self._root = root
        self._acceptance = _acceptance_of(run)
        self._results = run.results.results
        self.status = 0

    def right(self, names: Sequence[str], outcomes: Sequence[Outcome] | None) -> list[JudgedResult]:
        """The right answers to the cases of these names, or to all; `outcomes` leaves out others, if it is given."""
        found = list(self._named(names))
        for result, stanza in found if names else ():
            if not stanza.valid:
                self._problem(f"{result.nodeid}: is wrong; --failing takes it as a known failure")
        return [each for each in found if each[1].valid and (outcomes is None or each[0].outcome in outcomes)]

    def failing(self, names: Sequence[str]) -> list[JudgedResult]:
        """The wrong answers to the cases of these names, which are to be known failures."""
        found = list(self._named(names)) if names else []
        for result, stanza in found:
            if stanza.valid:
                self._problem(f"{result.nodeid}: does not fail")
            elif stanza.has_forbidden_call:
                self._problem(f"{result.nodeid}: a forbidden call is never excused")
        return [each for each in found if not each[1].valid and not each[1].has_forbidden_call]

    def accept(self, verdicts: Sequence[JudgedResult], because: str | None = None) -> None:
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

    def _named(self, names: Sequence[str]) -> Iterator[JudgedResult]:
        """The verdicts of cases that have one of these names, or of all; names of nothing are told."""
        used = set()
        for result in self._results:
            fitting = [name for name in names if _is_named_by(name, result)]
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


def _is_named_by(name: str, result: Result) -> bool:
    """Whether it is the name of the case, with or without its row and model, or of its file."""
    whole = result.case, result.nodeid
    return any(glob_matches(name, each) for each in (result.file, *whole, *(each.partition("[")[0] for each in whole)))


def _acceptance_of(run: Run) -> Acceptance:
    """Accept today what was answered when the run was."""
    told: Mapping[str, Json] = run.file.provenance
    known = {"plugin": told.get("pytest_fcall"), **{name: told.get(name) for name in ("commit", "branch", "dirty")}}
    kept = {name: value for name, value in known.items() if isinstance(value, str | bool)}
    return Acceptance(datetime.now(UTC).date().isoformat(), {"date": run.file.started[:10], **kept})


_ACCEPT_PROMPT = "accept? [y]es, [n]o, [a]ll that are left, [q]uit: "


def chosen_interactively(verdicts: Sequence[JudgedResult]) -> list[JudgedResult]:
    """Show each case, and keep those that the person wants; the end of the input is a `q`."""
    kept: list[JudgedResult] = []
    for number, (result, stanza) in enumerate(verdicts):
        outcome = result.outcome.value if result.outcome else "right"
        print(safe_line(f"{result.file}:{result.line} {result.case} ({result.model}): {outcome}"))
        for line in result.since:
            print(f"  {safe_line(line)}")
        answer = _read_answer()
        if answer == "a":
            return [*kept, *verdicts[number:]]
        if answer == "q":
            break
        if answer == "y":
            kept.append((result, stanza))
    return kept


def _read_answer() -> str:
    while True:
        try:
            word = input(_ACCEPT_PROMPT).strip().lower()[:1]
        except EOFError:
            return "q"
        if word in {"y", "n", "a", "q"}:
            return word


ONLY = (Outcome.FIXED, Outcome.NEW, Outcome.DRIFTED)

_EXAMPLES = """\
examples:
  fcall accept                                   what was right in the last run
  fcall accept --only fixed                      only what was mended
  fcall accept oslo 'paris-*'                    only these cases
  fcall accept run.json                          a run from elsewhere, such as one that CI has kept
  fcall accept -i                                one after the other, by hand
  fcall accept --failing oslo --because "the model knows no Norwegian"

A case is named by its id, its node id or its file; `*` stands for any characters. What is accepted goes into
__fcall__/MODEL/ beside the case file; commit it, and later runs are compared with it.
"""


def run(arguments: Sequence[str]) -> int:
    """Accept; 1 where something that was named cannot be accepted, or a file cannot be written."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if bool(options.failing) != bool(options.because):
        parser.error("--failing wants to know why, and --because wants failures: give both")
    files = [name for name in options.names if name.endswith(".json")]
    names = [name for name in options.names if name not in files]
    if len(files) > 1:
        parser.error(f"one run is accepted at a time, not {' and '.join(files)}")
    (opened,) = open_runs(parser, files, newest=1)
    accepting = VerdictAcceptor(root_of([Path.cwd()]), opened)
    only_failing = options.failing and not (names or options.only)
    right = [] if only_failing else accepting.right(names, options.only)
    failing = accepting.failing(options.failing)
    accepting.accept(chosen_interactively(right) if options.by_hand else right)
    accepting.accept(failing, options.because)
    if not (right or failing or accepting.status):
        print("nothing to accept")
    return accepting.status


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall accept",
        description="Take verdicts of a run into the baseline. No model is asked.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "names", nargs="*", metavar="CASE|RUN.json", help="cases (default: all), and a run (default: the last one)"
    )
    parser.add_argument("--only", type=_outcomes, metavar="OUTCOMES", help=f"of {', '.join(ONLY)}, separated by commas")
    parser.add_argument("--failing", nargs="+", default=[], metavar="CASE", help="cases to take as known failures")
    parser.add_argument("--because", metavar="TEXT", help="why they fail: shown in every run")
    parser.add_argument("-i", dest="by_hand", action="store_true", help="show and ask for each case")
    return parser


def _outcomes(text: str) -> tuple[Outcome, ...]:
    words = [word.strip() for word in text.split(",")]
    if unknown := [word for word in words if word not in ONLY]:
        raise ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(ONLY)}")
    return tuple(map(Outcome, words))
