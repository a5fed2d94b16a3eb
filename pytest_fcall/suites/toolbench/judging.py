"""Answers to the tasks, judged as the original judges them; what it would run is never run here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fcall.core.call import Calls
from pytest_fcall.core.case import Case
from pytest_fcall.core.fault import Fault, Location
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.suites.json_lines import BrokenRow
from pytest_fcall.suites.toolbench.actions import Actions
from pytest_fcall.suites.toolbench.outcomes import Carry, body_of, lines_without_blanks, table_of
from pytest_fcall.suites.toolbench.prompt import said
from pytest_fcall.suites.toolbench.requests import command_in, completed, request_of
from pytest_fcall.suites.toolbench.score import CRASHED, ToolBenchScore, compared, score
from pytest_fcall.suites.toolbench.tasks import Task

_NOBODY_KNOWS = "nobody has recorded what comes of this answer, so that it cannot be judged"


class Unknown(Exception):
    """What comes of an answer is not recorded."""


@dataclass(frozen=True, slots=True)
class ToolBenchJudge:
    """Judges one case."""

    task: Task
    row: Mapping[str, Json]
    labels: Sequence[str]
    actions: Actions
    place: Location
    carry: Carry | None = None

    def fault(self) -> Fault | None:
        """Say what is wrong with labels that are programs, too, where one cannot be carried out."""
        if self.task.kind != "state":
            return None
        try:
            score({"task": self.task.name, "prediction": None, "labels": list(self.labels)}, self.actions)
        except BrokenRow as error:
            return bad_row(self.place, str(error))
        return None

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:  # noqa: ARG002  the answer is text
        """Judge; under `bfcl`, which stands for original rules here, a program in a fence is a crash, as there."""
        answer = said(reply.text, unfenced=case.rules.profile == "strict")
        try:
            found = self.score(answer)
        except Unknown:
            return Verdict(False, (Reason("wrong_answer", "answer", _NOBODY_KNOWS, self.labels[0], answer),))
        return verdict_of(found, self.labels, answer)

    def score(self, answer: str) -> ToolBenchScore:
        """Score an answer. Raises Unknown."""
        if self.task.kind in ("state", "steps"):
            return score({"task": self.task.name, "prediction": answer, "labels": list(self.labels)}, self.actions)
        if self.task.kind == "request":
            return self._request(answer)
        if self.task.kind == "sheet":
            return self._sheet(answer)
        gives = self._gives(answer)
        error = gives.get("error")
        return ToolBenchScore(bool(error), gives.get("success") is True and not error, why=str(error or ""))

    def _request(self, answer: str) -> ToolBenchScore:
        if self.row.get("compare_string_only") is True:
            right = lines_without_blanks(command_in(answer)) in self.labels
            share = float(right)
            return ToolBenchScore(not right, right, share, share, share)
        name = self.task.name
        if completed(name, answer) is None:
            return replace(CRASHED, why="it is no command that ends with a quote")
        if request_of(name, answer) in [request_of(name, label) for label in self.labels]:
            return ToolBenchScore(False, True, 1, 1, 1)
        body = body_of(name, self._gives(answer))
        if body is None:
            return replace(CRASHED, why="the service answers with an error")
        return compared(body, [body_of(name, self._gives(label)) or {} for label in self.labels])

    def _sheet(self, answer: str) -> ToolBenchScore:
        if answer in self.labels:
            return ToolBenchScore(False, True)
        gives = self._gives(answer)
        if gives.get("error"):
            return ToolBenchScore(True, False, why=str(gives["error"]))
        check = self.row.get("check_format") is True
        right = (table_of(self._gives(label), check_format=check) for label in self.labels)
        return ToolBenchScore(False, table_of(gives, check_format=check) in list(right))

    def _gives(self, answer: str) -> Mapping[str, Json]:
        gives = self.carry(self.row, answer) if self.carry else None
        if gives is None:
            raise Unknown
        return gives


def bad_row(place: Location, why: str) -> Fault:
    """What is said of a row that cannot be asked."""
    return Fault("bad-row", place, f"this row of the suite cannot be read: {why}")


def verdict_of(found: ToolBenchScore, labels: Sequence[str], answer: str) -> Verdict:
    """A success is right; where the original only says how near steps are, all of them must be there."""
    right = found.success if found.success is not None else not found.crashed and found.lcs_score == 1
    scores = dict(_scores(found))
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


def _scores(found: ToolBenchScore) -> Iterator[tuple[str, tuple[float, ...]]]:
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
