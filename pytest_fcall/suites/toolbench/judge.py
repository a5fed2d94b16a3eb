"""Judges answers to the tasks by the original rules, and defines the operator `$toolbench`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_fcall.core.case import Case, Fault, Location
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.suites.json_files import BrokenRow, row_fault
from pytest_fcall.suites.toolbench.files import Task
from pytest_fcall.suites.toolbench.outcomes import (
    CarryOut,
    collapse_blanks,
    completed_command,
    curl_command,
    filled_cells,
    requested_call,
    response_body,
)
from pytest_fcall.suites.toolbench.prompt import clean_answer
from pytest_fcall.suites.toolbench.score import CRASHED, ToolBenchScore, right_answers, score_row, score_state
from pytest_fcall.suites.toolbench.virtual_home import KNOWN_ACTIONS, Actions

_NOT_RECORDED: Final = "no outcome is recorded for this answer, so it cannot be judged"


class OutcomeNotRecorded(Exception):
    """The outcome of an answer is not recorded."""


@dataclass(frozen=True, slots=True)
class ToolBenchJudge:
    """Judges the answers to one question."""

    task: Task
    row: Mapping[str, Json]
    labels: Sequence[str]
    """The right answers."""
    actions: Actions
    location: Location
    carry_out: CarryOut | None = None

    def fault(self) -> Fault | None:
        """Return the fault of a row with a label that is a program but cannot be executed."""
        if self.task.kind != "state":
            return None
        try:
            self._score_text(None)
        except BrokenRow as error:
            return row_fault(self.location, str(error))
        return None

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:  # noqa: ARG002  the answer is text
        """Judge a reply. Under the original rules, a program in a fence is a crash."""
        answer = clean_answer(reply.text, unfenced=case.rules.profile == "strict")
        try:
            return _verdict_of(self.score(answer), self.labels, answer)
        except OutcomeNotRecorded:
            return Verdict(False, (Reason("wrong_answer", "answer", _NOT_RECORDED, self.labels[0], answer),))

    def score(self, answer: str) -> ToolBenchScore:
        """Score an answer. Raises OutcomeNotRecorded."""
        if self.task.kind in ("state", "steps"):
            return self._score_text(answer)
        if self.task.kind == "request":
            return self._score_request(answer)
        if self.task.kind == "sheet":
            return self._score_sheet(answer)
        outcome = self._outcome(answer)
        error = outcome.get("error")
        return ToolBenchScore(bool(error), outcome.get("success") is True and not error, explanation=str(error or ""))

    def _score_text(self, answer: str | None) -> ToolBenchScore:
        return score_row({"task": self.task.name, "prediction": answer, "labels": list(self.labels)}, self.actions)

    def _score_request(self, answer: str) -> ToolBenchScore:
        if self.row.get("compare_string_only") is True:
            right = collapse_blanks(curl_command(answer)) in self.labels
            share = float(right)
            return ToolBenchScore(not right, right, share, share, share)
        name = self.task.name
        if completed_command(name, answer) is None:
            return replace(CRASHED, explanation="it is not a command that ends with a quote")
        if requested_call(name, answer) in [requested_call(name, label) for label in self.labels]:
            return ToolBenchScore(False, True, 1, 1, 1)
        body = response_body(name, self._outcome(answer))
        if body is None:
            return replace(CRASHED, explanation="the service returned an error")
        return score_state(body, [response_body(name, self._outcome(label)) or {} for label in self.labels])

    def _score_sheet(self, answer: str) -> ToolBenchScore:
        if answer in self.labels:
            return ToolBenchScore(False, True)
        outcome = self._outcome(answer)
        if outcome.get("error"):
            return ToolBenchScore(True, False, explanation=str(outcome["error"]))
        check = self.row.get("check_format") is True
        right = [filled_cells(self._outcome(label), check_format=check) for label in self.labels]
        return ToolBenchScore(False, filled_cells(outcome, check_format=check) in right)

    def _outcome(self, answer: str) -> Mapping[str, Json]:
        outcome = self.carry_out(self.row, answer) if self.carry_out else None
        if outcome is None:
            raise OutcomeNotRecorded
        return outcome


def toolbench(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:  # noqa: ARG001  it has none
    """Judge a text by `labels`, the right answers, in a `task` that needs no network."""
    if not isinstance(operand, Mapping) or not isinstance(task := operand.get("task"), str):
        return "`$toolbench` needs a `task`, and `labels`, a list of right answers"
    if not isinstance(got, str):
        return "expected a text"
    listed = operand.get("labels")
    labels: Json = [each for each in listed if isinstance(each, str)] if isinstance(listed, list | tuple) else []
    row: dict[str, Json] = {"task": task, "prediction": clean_answer(got, unfenced=True), "labels": labels}
    try:
        verdict = _verdict_of(score_row(row, KNOWN_ACTIONS), right_answers(row, "labels"), got)
    except BrokenRow as error:
        return f"`$toolbench` cannot judge: {error}"
    return None if verdict.valid else verdict.reasons[0].message


def _verdict_of(score: ToolBenchScore, labels: Sequence[str], answer: str) -> Verdict:
    """The verdict by a score. A task without success is right if no step is missing."""
    right = score.success if score.success is not None else not score.crashed and score.lcs_score == 1
    scores = dict(_case_scores(score))
    if right:
        return Verdict(True, scores=scores)
    if score.crashed:
        why = "the answer cannot be executed"
    elif score.f1 is not None:
        why = f"wrong final state (F1 {score.f1:.4f})"
    elif score.lcs_score is not None:
        why = f"wrong steps (LCS {score.lcs_score:.4f})"
    else:
        why = "wrong outcome"
    message = f"{why}: {score.explanation}" if score.explanation else why
    return Verdict(False, (Reason("wrong_answer", "answer", message, labels[0], answer),), scores=scores)


def _case_scores(score: ToolBenchScore) -> Iterator[tuple[str, tuple[float, ...]]]:
    yield "executability", (float(not score.crashed), 1.0)
    if score.success is not None:
        yield "success_rate", (float(score.success), 1.0)
    for name, value in (
        ("state_f1", score.f1),
        ("state_precision", score.precision),
        ("state_recall", score.recall),
        ("lcs", score.lcs_score),
    ):
        if value is not None:
            yield name, (value, 1.0)
    if score.lcs_score is not None:
        yield "lcs(executable)", (0.0, 0.0) if score.crashed else (score.lcs_score, 1.0)
