"""The report of a run, made of its file, of the accounts beside it, and of the runs before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar, get_args, overload

from pytest_fcall.core.json_data import DamagedData, as_mapping, read_json
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Outcome
from pytest_fcall.reporting.account import Account, account_from_json
from pytest_fcall.reporting.fragility import ModelFlips
from pytest_fcall.reporting.reports.report import (
    ComparedRun,
    EarlierAnswer,
    EarlierResult,
    EarlierRun,
    Report,
    other_failures,
)
from pytest_fcall.reporting.results import Result, Status
from pytest_fcall.session.result.compared_runs import (
    answered_pairs,
    calls_of,
    compare_models,
    compare_runs,
)
from pytest_fcall.session.result.judged_run import JudgedRun, judge_run
from pytest_fcall.session.result.kept_runs import Run, load_run
from pytest_fcall.session.result.model_change import answered_rightly
from pytest_fcall.session.result.suite_scores import Suites
from pytest_fcall.tracking.differences import same_calls
from pytest_fcall.tracking.run_accounts import accounts_path, read_account_texts, tool_of_line, tool_set_of_line
from pytest_fcall.tracking.run_file import RunFile, RunFileError, read_run_by_rows, run_data

T = TypeVar("T")

MOST_EARLIER = 20
"""Of so many runs before, the report says how each case ended."""
_STATUSES: Final[Mapping[str, Status]] = MappingProxyType({status: status for status in get_args(Status)})
_OUTCOMES: Final[Mapping[str, Outcome]] = MappingProxyType({outcome.value: outcome for outcome in Outcome})
_MOST_MODELS = 8
"""So many models are held beside each other, two by two."""


def report_of(run: Run, earlier: Sequence[Path], suites: Suites, compared: int = 1) -> Report:
    """The report of a run. Raises RunFileError where its gates cannot be read.

    Those of the earlier runs that cannot be read are left out. The last `compared` of them are held beside this run
    case by case.
    """
    file, accounts = run.file, KeptAccounts(run.path)
    before = dict(_earlier_runs(earlier, file))
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
        accounts=accounts,
        offered=KeptToolSets(accounts),
        earlier=tuple(before.values()),
        models_compared=_Lazy(lambda: compare_models(run.results.results, _MOST_MODELS)),
        runs_compared=_Lazy(lambda: [*_compared_runs([*before][-compared:], run)]),
        varied=_Lazy(lambda: _varied(run.results.results)),
        provenance=file.provenance,
        data=run_data(file),
    )


def _varied(results: Sequence[Result]) -> Sequence[ModelFlips]:
    if not any(result.variants for result in results):
        return ()
    from pytest_fcall.session.result.fragility import model_flips

    return model_flips(results)


def _conclusions(run: Run, judged: JudgedRun) -> Iterator[str]:
    """Sentences on what decided how the run ends, the weightiest first."""
    failures, results = judged.failures, run.results
    outcomes = [result.outcome for result in results.results]
    if run.file.broken_off:
        yield "The run was broken off: the cases that had ended until then are below."
    yield from (f"{note[:1].upper()}{note[1:]}." for note in judged.notes)
    if failures.forbidden and not judged.notes:
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
    if failures.otherwise and not judged.notes:
        yield "Something besides the verdicts failed: an error, or a plain test."


def _earlier_runs(paths: Iterable[Path], file: RunFile) -> Iterator[tuple[Path, EarlierRun]]:
    """The ends of the cases of runs. No more is held: whole results of twenty runs would take seconds and memory."""
    for path in paths:
        with suppress(RunFileError):
            found, rows = read_run_by_rows(path)
            if found.id < file.id:
                yield path, EarlierRun(found.id, found.started, dict(_earlier_results(rows)))


def _earlier_results(rows: Iterable[Json]) -> Iterator[tuple[str, EarlierResult]]:
    for row in rows:
        match row:
            case {"nodeid": str(nodeid), "status": str(status), **rest} if status in _STATUSES:
                yield nodeid, EarlierResult(_STATUSES[status], _OUTCOMES.get(str(rest.get("outcome"))))


def _compared_runs(paths: Sequence[Path], now: Run) -> Iterator[ComparedRun]:
    for path in reversed(paths):
        with suppress(RunFileError):
            yield _compared_run(load_run(path), now)


def _compared_run(before: Run, now: Run) -> ComparedRun:
    pairs = answered_pairs(before.results.results, now.results.results)
    comparison = compare_runs(before, now)
    edited = {result.nodeid for result in comparison.edited}
    answers = {
        new.nodeid: EarlierAnswer(answered_rightly(old), _other_calls(old, new), was_edited=new.nodeid in edited)
        for old, new in pairs
    }
    return ComparedRun(before.file.id, before.file.started, comparison, answers)


def _other_calls(old: Result, new: Result) -> tuple[Call, ...] | None:
    """The calls of the earlier run; None where they are those of this run, or where neither are known."""
    if old.stanza == new.stanza:
        return None
    before, now = calls_of(old), calls_of(new)
    return None if before is None or (now is not None and same_calls(before, now)) else before


class _Lazy(Sequence[T]):
    """Values that are made on demand: most kinds of reports need none."""

    def __init__(self, make: Callable[[], Sequence[T]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Sequence[T]:
        return self._make()

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        return self._made[place]

    def __len__(self) -> int:
        return len(self._made)


class KeptAccounts(Mapping[str, Account]):
    """The accounts by node id. The file is read when the first is asked for, and each account when it is."""

    def __init__(self, run: Path) -> None:
        self._path = accounts_path(run)

    @cached_property
    def _lines(self) -> tuple[dict[str, bytes], dict[str, Sequence[Tool]]]:
        accounts, tools, sets = dict[str, bytes](), dict[tuple[str, str], Tool](), []
        for text, line in read_account_texts(self._path):
            if isinstance(nodeid := line.get("nodeid"), str):
                accounts[nodeid] = text  # of a case that was run again the last one counts
            elif tool := tool_of_line(line):
                tools[tool.name, tool.digest] = Tool(tool.name, tool.description, tool.parameters)
            elif found := tool_set_of_line(line):
                sets.append(found)
        return accounts, {name: [tools[each] for each in own if each in tools] for name, own in sets}

    @property
    def offered(self) -> Mapping[str, Sequence[Tool]]:
        """The sets of tools by their names, which accounts refer to."""
        return self._lines[1]

    def __getitem__(self, nodeid: str) -> Account:
        try:
            return account_from_json(as_mapping(read_json(self._lines[0][nodeid]), "an account"))
        except DamagedData as error:
            return Account(nodeid, error=f"what was asked and answered cannot be read: {error}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines[0])

    def __len__(self) -> int:
        return len(self._lines[0])


class KeptToolSets(Mapping[str, Sequence[Tool]]):
    """The sets of tools of accounts, by name, which are read when the first is asked for."""

    def __init__(self, accounts: KeptAccounts) -> None:
        self._accounts = accounts

    def __getitem__(self, name: str) -> Sequence[Tool]:
        return self._accounts.offered[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._accounts.offered)

    def __len__(self) -> int:
        return len(self._accounts.offered)
