"""Judges answers by the original rules: programs by their final state, steps by their order. Defines `$toolbench`."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from reprlib import repr as shown
from types import MappingProxyType
from typing import Final, TypeVar

from pytest_fcall.conversation.program import MalformedProgram, ProgramCall, run_program
from pytest_fcall.conversation.score_formulas import lcs_score, state_f1
from pytest_fcall.core.case import Case, Fault, Location
from pytest_fcall.core.message_text import clauses, others_text
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.values import Json, is_strings
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.decoding.unreadable_text import quote_short
from pytest_fcall.suites.json_files import BrokenRow, row_fault
from pytest_fcall.suites.toolbench.apis import Booking, CallRefused, Date, HomeSearch, Loc
from pytest_fcall.suites.toolbench.files import ToolBenchTask
from pytest_fcall.suites.toolbench.outcomes import (
    CarryOut,
    collapse_blanks,
    completed_command,
    curl_command,
    filled_cells,
    requested_call,
    response_body,
)
from pytest_fcall.suites.toolbench.virtual_home import KNOWN_ACTIONS, Actions, is_known_step, parse_step, step_lines

STOP_TEXTS: Final = ("------", "Task:")
"""The end of an answer. Models that go on begin another question."""
_FENCED: Final = re.compile(r"\s*```[\w-]*\n(?P<inside>.*?)\n?```\s*", re.DOTALL)
_NOT_RECORDED: Final = "no outcome is recorded for this answer, so it cannot be judged"
Api = HomeSearch | Booking

_VALUE_CLASSES: Mapping[type[Api], Mapping[str, Callable[..., object]]] = MappingProxyType(
    {HomeSearch: {}, Booking: {"Date": Date, "Loc": Loc}}
)
_API_OF_TASK: Mapping[str, type[Api]] = MappingProxyType({"home_search": HomeSearch, "booking": Booking})
_STEPS_TASK: Final = "virtual_home"
_MOST_NAMED: Final = 3
_Key = TypeVar("_Key", bound=Hashable)


class _OutcomeNotRecorded(Exception):
    """The outcome of an answer is not recorded."""


@dataclass(frozen=True, slots=True)
class ToolBenchJudge:
    """Judges the answers to one question."""

    task: ToolBenchTask
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
        answer = _clean_answer(reply.text, unfenced=case.rules.profile == "strict")
        try:
            return _verdict_of(self.score(answer), self.labels, answer)
        except _OutcomeNotRecorded:
            return Verdict(False, (Reason("wrong_answer", "answer", _NOT_RECORDED, self.labels[0], answer),))

    def score(self, answer: str) -> ToolBenchScore:
        """Score an answer. Raises _OutcomeNotRecorded."""
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
        return _score_state(body, [response_body(name, self._outcome(label)) or {} for label in self.labels])

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
            raise _OutcomeNotRecorded
        return outcome


def toolbench(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:  # noqa: ARG001  it has none
    """Judge a text by `labels`, the right answers, in a `task` that needs no network."""
    if not isinstance(operand, Mapping) or not isinstance(task := operand.get("task"), str):
        return "`$toolbench` needs a `task`, and `labels`, a list of right answers"
    if not isinstance(got, str):
        return "expected a text"
    listed = operand.get("labels")
    labels: Json = [each for each in listed if isinstance(each, str)] if isinstance(listed, list | tuple) else []
    row: dict[str, Json] = {"task": task, "prediction": _clean_answer(got, unfenced=True), "labels": labels}
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


@dataclass(frozen=True, slots=True)
class ToolBenchScore:
    """The scores of the original evaluator; None for scores that the task does not have."""

    crashed: bool
    success: bool | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    lcs_score: float | None = None
    explanation: str = field(default="", compare=False)
    """The mistake, if it is known."""


CRASHED: Final = ToolBenchScore(True, False, 0, 0, 0, 0)


def score_row(row: Mapping[str, Json], actions: Actions) -> ToolBenchScore:
    """Score the `prediction` for a `task` by the best of its `labels`. Raises BrokenRow.

    A prediction of null is a crash. An agent in a virtual home can do `actions`, and all that the labels do.
    """
    task, prediction, labels = row.get("task"), row.get("prediction"), right_answers(row, "labels")
    if prediction is not None and not isinstance(prediction, str):
        raise BrokenRow("`prediction` must be a string or null")
    if task == _STEPS_TASK:
        return _scored_by_steps(prediction, labels, actions)
    if not isinstance(task, str) or task not in _API_OF_TASK:
        raise BrokenRow(f"`task` must be one of {', '.join((*_API_OF_TASK, _STEPS_TASK))}")
    return _scored_by_state(prediction, labels, _API_OF_TASK[task])


def _scored_by_state(prediction: str | None, labels: Sequence[str], kind: type[Api]) -> ToolBenchScore:
    expected = [_expected_state(label, kind) for label in labels]
    if prediction is None:
        return CRASHED
    try:
        state = _final_state(prediction, kind)
    except _ProgramCrashed as error:
        return replace(CRASHED, explanation=str(error))
    return _score_state(state, expected)


def _score_state(state: Mapping[_Key, object], expected: Iterable[Mapping[_Key, object]]) -> ToolBenchScore:
    """Score a state by the nearest of the expected ones."""
    best, nearest = max(((state_f1(state, each), each) for each in expected), key=lambda found: found[0].f1)
    explanation = _describe_differences(state, nearest)
    return ToolBenchScore(False, best.f1 == 1, best.precision, best.recall, best.f1, explanation=explanation)


def _describe_differences(state: Mapping[_Key, object], expected: Mapping[_Key, object]) -> str:
    differences = list(_differences(state, expected))
    return clauses(*differences[:_MOST_NAMED], others_text(differences, _MOST_NAMED))


def _differences(state: Mapping[_Key, object], expected: Mapping[_Key, object]) -> Iterator[str]:
    for key in (*expected, *(key for key in state if key not in expected)):
        if key not in state:
            yield f"`{key}` is missing, expected {shown(expected[key])}"
        elif key not in expected:
            yield f"`{key}` is {shown(state[key])}, expected nothing"
        elif state[key] != expected[key]:
            yield f"`{key}` is {shown(state[key])}, expected {shown(expected[key])}"


class _ProgramCrashed(Exception):
    """A program cannot be executed to its end. The text says why."""


def _final_state(program: str, kind: type[Api]) -> Mapping[str, object]:
    """Execute a program on a new API, and return the criteria that it has set. Raises _ProgramCrashed."""
    api = kind()
    try:
        run_program(program, lambda call: _call_api(api, call))
    except (MalformedProgram, CallRefused, TypeError) as error:  # Python raises TypeError for wrong arguments
        raise _ProgramCrashed(str(error)) from None
    return api.criteria


def _call_api(api: Api, call: ProgramCall) -> object:
    if value_class := _VALUE_CLASSES[type(api)].get(call.name):
        return value_class(*call.positional, **call.named)
    owner, _, name = call.name.rpartition(".")
    if owner == "API" and name in api.setters:
        api.set(api.setters[name], *call.positional, **call.named)
    elif owner == "API" and name in api.methods:
        getattr(api, name)(*call.positional, **call.named)
    else:
        raise CallRefused(f"unknown function {call.name:.60}")
    return None


def _expected_state(label: str, kind: type[Api]) -> Mapping[str, object]:
    try:
        return _final_state(label, kind)
    except _ProgramCrashed as error:
        raise BrokenRow(f"a label cannot be executed: {error}") from None


def _scored_by_steps(prediction: str | None, labels: Sequence[str], actions: Actions) -> ToolBenchScore:
    if prediction is None:
        return ToolBenchScore(True, lcs_score=0)
    expected = [step_lines(label) for label in labels]
    known = actions.with_steps([step for lines in expected for line in lines if (step := parse_step(line))])
    lines = step_lines(prediction)
    crash = next((f"unknown step {quote_short(line)}" for line in lines if not is_known_step(line, known)), "")
    steps = [line for line in lines if line]
    best = max(lcs_score(steps, [line for line in each if line]) for each in expected)
    return ToolBenchScore(bool(crash), lcs_score=best, explanation=crash)


def right_answers(row: Mapping[str, Json], key: str) -> list[str]:
    """Return the right answers of a row. Raises BrokenRow without any."""
    labels = row.get(key)
    if not is_strings(labels) or not labels:
        raise BrokenRow(f"`{key}` must be a non-empty list of strings")
    return labels


def _clean_answer(text: str, *, unfenced: bool) -> str:
    """Return an answer up to its end; `unfenced` also removes the fence around a program."""
    if unfenced and (fenced := _FENCED.fullmatch(text)):
        text = fenced["inside"]
    ends = [index for stop in STOP_TEXTS if (index := text.find(stop)) >= 0]
    return text[: min(ends, default=len(text))].strip()
