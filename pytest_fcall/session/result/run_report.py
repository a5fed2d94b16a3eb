"""The report of a run, made of its file, of the accounts beside it, and of the runs before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pytest_fcall.core import Json, Outcome
from pytest_fcall.core.json_fields import DamagedData
from pytest_fcall.reporting.account import Account, account_from_json
from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.reports.report import EarlierResult, EarlierRun, Report, other_failures
from pytest_fcall.session.result.judged_run import JudgedRun, judge_run
from pytest_fcall.session.result.kept_run import Run, load_run
from pytest_fcall.session.result.suite_scores import Suites
from pytest_fcall.tracking.run_accounts import accounts_path, read_accounts
from pytest_fcall.tracking.run_file import RunFile, RunFileError, run_data

MOST_EARLIER = 20
"""Of so many runs before, the report says how each case ended."""


def report_of(run: Run, earlier: Sequence[Path], suites: Suites) -> Report:
    """The report of a run. Raises RunFileError where its gates cannot be read.

    Those of the earlier runs that cannot be read are left out.
    """
    file = run.file
    judged = judge_run(file, run.results, suites)
    return Report(
        id=file.id,
        started=file.started,
        models=file.models,
        results=run.results,
        status=judged.status,
        conclusions=tuple(_conclusions(run, judged)),
        gates=judged.gates,
        unjudged=judged.unjudged,
        accounts=_Accounts(accounts_path(run.path)),
        earlier=tuple(_earlier_runs(earlier, file)),
        provenance=file.provenance,
        data=run_data(file),
    )


def _conclusions(run: Run, judged: JudgedRun) -> Iterator[str]:
    """Why the run ends as it does, what weighs most first."""
    failures, results = judged.failures, run.results
    outcomes = [result.outcome for result in results.results]
    if run.file.broken_off:
        yield "The run was broken off: the cases that had ended until then are below."
    if failures.forbidden:
        yield "A forbidden call was made."
    yield from judged.worse
    if regressed := outcomes.count(Outcome.REGRESSED):
        yield f"{plural_text(regressed, 'case')} regressed."
    if failures.verdicts and (others := other_failures(results.results)):
        yield f"{plural_text(len(others), 'case')} failed{' that did not regress' if regressed else ''}."
    if failures.undecided:
        yield f"{plural_text(outcomes.count(Outcome.UNDECIDED), 'case')} may have regressed, or be wrong by chance."
    if failures.unanswered:
        yield f"{plural_text(results.unanswered, 'case')} could not be judged: there was no reply."
    if failures.unrecorded:
        yield f"{plural_text(sum(results.missing.values()), 'case')} could not be judged: no recorded reply fits."
    if failures.otherwise:
        yield "Something besides the verdicts failed: an error, or a plain test."
    yield from judged.notes


def _earlier_runs(paths: Sequence[Path], file: RunFile) -> Iterator[EarlierRun]:
    for path in paths:
        with suppress(RunFileError):
            run = load_run(path)
            if run.file.id < file.id:
                found = {each.nodeid: EarlierResult(each.status, each.outcome) for each in run.results.results}
                yield EarlierRun(run.file.id, run.file.started, found)


class _Accounts(Mapping[str, Account]):
    """The accounts in a file, which is read when the first is asked for, and each account when it is."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: dict[str, Mapping[str, Json]] | None = None

    @property
    def _lines(self) -> dict[str, Mapping[str, Json]]:
        if self._read is None:
            self._read = dict(read_accounts(self._path))
        return self._read

    def __getitem__(self, nodeid: str) -> Account:
        try:
            return account_from_json(self._lines[nodeid])
        except DamagedData as error:
            return Account(nodeid, error=f"what was asked and answered cannot be read: {error}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)
