"""Judges answers to the tasks by the original rules, and the operator `$toolbench`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fcall.core.case import Case
from pytest_fcall.core.fault import Fault, Location
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.suites.json_files import BrokenRow
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

_NOT_RECORDED = "nobody has recorded what comes of this answer, so that it cannot be judged"


class OutcomeNotRecorded(Exception):
    """What comes of an answer is not recorded."""


@dataclass(frozen=True, slots=True)
class ToolBenchJudge:
    """Judges one case."""

    task: Task
    row: Mapping[str, Json]
    labels: Sequence[str]
    actions: Actions
    place: Location
    carry: CarryOut | None = None

    def fault(self) -> Fault | None:
        """Say what is wrong with labels that are programs, too, where one cannot be carried out."""
        if self.task.kind != "state":
            return None
        try:
            score_row({"task": self.task.name, "prediction": None, "labels": list(self.labels)}, self.actions)
        except BrokenRow as error:
            return bad_row_fault(self.place, str(error))
        return None

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:  # noqa: ARG002  the answer is text
        """Judge; under `bfcl`, which stands for original rules here, a program in a fence is a crash, as there."""
        answer = clean_answer(reply.text, unfenced=case.rules.profile == "strict")
        try:
            found = self.score(answer)
        except OutcomeNotRecorded:
            return Verdict(False, (Reason("wrong_answer", "answer", _NOT_RECORDED, self.labels[0], answer),))
        return score_verdict(found, self.labels, answer)

    def score(self, answer: str) -> ToolBenchScore:
        """Score an answer. Raises Unknown."""
        if self.task.kind in ("state", "steps"):
            return score_row({"task": self.task.name, "prediction": answer, "labels": list(self.labels)}, self.actions)
        if self.task.kind == "request":
            return self._request(answer)
        if self.task.kind == "sheet":
            return self._sheet(answer)
        gives = self._gives(answer)
        error = gives.get("error")
        return ToolBenchScore(bool(error), gives.get("success") is True and not error, why=str(error or ""))

    def _request(self, answer: str) -> ToolBenchScore:
        if self.row.get("compare_string_only") is True:
            right = collapse_blanks(curl_command(answer)) in self.labels
            share = float(right)
            return ToolBenchScore(not right, right, share, share, share)
        name = self.task.name
        if completed_command(name, answer) is None:
            return replace(CRASHED, why="it is no command that ends with a quote")
        if requested_call(name, answer) in [requested_call(name, label) for label in self.labels]:
            return ToolBenchScore(False, True, 1, 1, 1)
        body = response_body(name, self._gives(answer))
        if body is None:
            return replace(CRASHED, why="the service answers with an error")
        return score_state(body, [response_body(name, self._gives(label)) or {} for label in self.labels])

    def _sheet(self, answer: str) -> ToolBenchScore:
        if answer in self.labels:
            return ToolBenchScore(False, True)
        gives = self._gives(answer)
        if gives.get("error"):
            return ToolBenchScore(True, False, why=str(gives["error"]))
        check = self.row.get("check_format") is True
        right = (filled_cells(self._gives(label), check_format=check) for label in self.labels)
        return ToolBenchScore(False, filled_cells(gives, check_format=check) in list(right))

    def _gives(self, answer: str) -> Mapping[str, Json]:
        gives = self.carry(self.row, answer) if self.carry else None
        if gives is None:
            raise OutcomeNotRecorded
        return gives


def bad_row_fault(place: Location, why: str) -> Fault:
    """What is said of a row that cannot be asked."""
    return Fault("bad-row", place, f"this row of the suite cannot be read: {why}")


def score_verdict(found: ToolBenchScore, labels: Sequence[str], answer: str) -> Verdict:
    """A success is right; where the original only says how near steps are, all of them must be there."""
    right = found.success if found.success is not None else not found.crashed and found.lcs_score == 1
    scores = dict(_case_scores(found))
    if right:
        return Verdict(True, scores=scores)
    if found.crashed:
        why = "it cannot be carried out"
    elif found.f1 is not None:
        why = f"what it comes to is not what is expected (F1 {found.f1:.4f})"
    elif found.lcs_score is not None:
        why = f"its steps are not those that are expected (LCS {found.lcs_score:.4f})"
    else:
        why = "it does not come to what is expected"
    message = f"{why}: {found.why}" if found.why else why
    return Verdict(False, (Reason("wrong_answer", "answer", message, labels[0], answer),), scores=scores)


def _case_scores(found: ToolBenchScore) -> Iterator[tuple[str, tuple[float, ...]]]:
    yield "executability", (float(not found.crashed), 1.0)
    for name, value in (
        ("state_f1", found.f1),
        ("state_precision", found.precision),
        ("state_recall", found.recall),
        ("lcs", found.lcs_score),
    ):
        if value is not None:
            yield name, (value, 1.0)
    if found.lcs_score is not None:
        yield "lcs(executable)", (0.0, 0.0) if found.crashed else (found.lcs_score, 1.0)


def toolbench(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:  # noqa: ARG001  it takes none
    """Compare text with what one of `labels` comes to, in a `task` that is carried out here."""
    if not isinstance(operand, Mapping) or not isinstance(task := operand.get("task"), str):
        return "`$toolbench` takes a `task`, and `labels`, a list of right answers"
    if not isinstance(got, str):
        return "there is no text"
    listed = operand.get("labels")
    labels: Json = [each for each in listed if isinstance(each, str)] if isinstance(listed, list | tuple) else []
    row: dict[str, Json] = {"task": task, "prediction": clean_answer(got, unfenced=True), "labels": labels}
    try:
        verdict = score_verdict(score_row(row, KNOWN_ACTIONS), right_answers(row, "labels"), got)
    except BrokenRow as error:
        return f"`$toolbench` cannot judge: {error}"
    return None if verdict.valid else verdict.reasons[0].message
