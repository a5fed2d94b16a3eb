"""The conclusion of a run as a whole, from its file: gates, models that are worse, and the exit status."""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple, get_args

from pytest_fcall.reporting.gates import JudgedGate
from pytest_fcall.reporting.results import Results
from pytest_fcall.session.result.exit_status import INCONCLUSIVE, PASSED, Fail, RunFailures
from pytest_fcall.session.result.gates import Gates, judged_gates
from pytest_fcall.session.result.model_change import worse_models
from pytest_fcall.session.result.suite_scores import Suites, score_names
from pytest_fcall.tracking.gates import GateError, parse_gates
from pytest_fcall.tracking.run_file import RunFile, RunFileError


class JudgedRun(NamedTuple):
    """The conclusions of a run, which are the same whether it has just ended or is read from its file."""

    gates: tuple[JudgedGate, ...]
    worse: tuple[str, ...]
    """A line for each model that is worse than before."""
    notes: tuple[str, ...]
    """Sentences on what decided, where gates and failed cases alone would not show it."""
    failures: RunFailures
    status: int
    unjudged: str = ""
    """The reasons why gates, and models as a whole, are not judged."""


def judge_run(file: RunFile, results: Results, suites: Suites, unjudged: str = "") -> JudgedRun:
    """Judge a run by its gates, and its models as wholes. Raises RunFileError.

    Neither is judged in a part of a run; `unjudged` says why it is one, if the file does not know.
    """
    gates, failures = gates_of_file(file, suites), failures_of(file)
    unjudged = unjudged or _unjudged(file)
    if unjudged:
        status = failures.exit_status(gates.fail, ())
        # What is left of a run that was broken off cannot have passed; a whole shard may have.
        return JudgedRun((), (), (), failures, status or (INCONCLUSIVE if file.broken_off else PASSED), unjudged)
    verdicts = gates.judge(results.results, suites)
    worse = tuple(each.line for each in worse_models(results.results))
    failures.worse |= bool(worse)
    status = failures.exit_status(gates.fail, verdicts)
    notes = tuple(gates.notes(failures, verdicts, results.results))
    return JudgedRun(tuple(judged_gates(verdicts)), worse, notes, failures, status)


def gates_of_file(file: RunFile, suites: Suites) -> Gates:
    """The gates of a run. Raises RunFileError."""
    try:
        gates = tuple(gate for text in file.gates for gate in parse_gates(text, lambda: score_names(suites)))
    except GateError as error:
        raise RunFileError(f"gate {error.text!r} cannot be read: {error.message}") from None
    choices: tuple[Fail, ...] = get_args(Fail)
    fail = next((choice for choice in choices if choice == file.fail), None)
    if fail is None:
        raise RunFileError(f"unknown value of --fc-fail {file.fail!r}; available: {', '.join(choices)}")
    return Gates(gates, fail)


def failures_of(*files: RunFile) -> RunFailures:
    """The kinds of failures of a run, or of all parts of one."""
    kinds = (each.name for each in fields(RunFailures))
    return RunFailures(**{kind: any(file.failed.get(kind, False) for file in files) for kind in kinds})


def _unjudged(file: RunFile) -> str:
    if file.shard:
        return f"it is shard {file.shard[0]} of {file.shard[1]}: `fcall merge` judges all of them together"
    return "it was broken off" if file.broken_off else ""
