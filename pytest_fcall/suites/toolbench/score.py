"""Scores one stored answer by the original rules: programs by their final state, steps by their order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from reprlib import repr as shown
from types import MappingProxyType
from typing import Final, TypeVar

from pytest_fcall.conversation.program import MalformedProgram, ProgramCall, run_program
from pytest_fcall.conversation.score_formulas import lcs_score, state_f1
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.unreadable import shortened
from pytest_fcall.suites.json_files import BrokenRow, is_strings
from pytest_fcall.suites.toolbench.apis import Booking, CallRefused, Date, HomeSearch, Loc
from pytest_fcall.suites.toolbench.virtual_home import Actions, is_known_step, parse_step, step_lines

Api = HomeSearch | Booking

_VALUE_CLASSES: Mapping[type[Api], Mapping[str, Callable[..., object]]] = MappingProxyType(
    {HomeSearch: {}, Booking: {"Date": Date, "Loc": Loc}}
)
_API_OF_TASK: Mapping[str, type[Api]] = MappingProxyType({"home_search": HomeSearch, "booking": Booking})
_STEPS_TASK: Final = "virtual_home"
_MOST_NAMED: Final = 3
_Key = TypeVar("_Key", bound=Hashable)


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
        state = final_state(prediction, kind)
    except ProgramCrashed as error:
        return replace(CRASHED, explanation=str(error))
    return score_state(state, expected)


def score_state(state: Mapping[_Key, object], expected: Iterable[Mapping[_Key, object]]) -> ToolBenchScore:
    """Score a state by the nearest of the expected ones."""
    best, nearest = max(((state_f1(state, each), each) for each in expected), key=lambda found: found[0].f1)
    explanation = _describe_differences(state, nearest)
    return ToolBenchScore(False, best.f1 == 1, best.precision, best.recall, best.f1, explanation=explanation)


def _describe_differences(state: Mapping[_Key, object], expected: Mapping[_Key, object]) -> str:
    differences = list(_differences(state, expected))
    more = f"; and {len(differences) - _MOST_NAMED} more" if len(differences) > _MOST_NAMED else ""
    return "; ".join(differences[:_MOST_NAMED]) + more


def _differences(state: Mapping[_Key, object], expected: Mapping[_Key, object]) -> Iterator[str]:
    for key in (*expected, *(key for key in state if key not in expected)):
        if key not in state:
            yield f"`{key}` is missing, expected {shown(expected[key])}"
        elif key not in expected:
            yield f"`{key}` is {shown(state[key])}, expected nothing"
        elif state[key] != expected[key]:
            yield f"`{key}` is {shown(state[key])}, expected {shown(expected[key])}"


class ProgramCrashed(Exception):
    """A program cannot be executed to its end. The text says why."""


def final_state(program: str, kind: type[Api]) -> Mapping[str, object]:
    """Execute a program on a new API, and return the criteria that it has set. Raises ProgramCrashed."""
    api = kind()
    try:
        run_program(program, lambda call: _call_api(api, call))
    except (MalformedProgram, CallRefused, TypeError) as error:  # Python raises TypeError for wrong arguments
        raise ProgramCrashed(str(error)) from None
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
        return final_state(label, kind)
    except ProgramCrashed as error:
        raise BrokenRow(f"a label cannot be executed: {error}") from None


def _scored_by_steps(prediction: str | None, labels: Sequence[str], actions: Actions) -> ToolBenchScore:
    if prediction is None:
        return ToolBenchScore(True, lcs_score=0)
    expected = [step_lines(label) for label in labels]
    known = actions.with_steps([step for lines in expected for line in lines if (step := parse_step(line))])
    lines = step_lines(prediction)
    crash = next((f"unknown step {shortened(line)}" for line in lines if not is_known_step(line, known)), "")
    steps = [line for line in lines if line]
    best = max(lcs_score(steps, [line for line in each if line]) for each in expected)
    return ToolBenchScore(bool(crash), lcs_score=best, explanation=crash)


def right_answers(row: Mapping[str, Json], key: str) -> list[str]:
    """Return the right answers of a row. Raises BrokenRow without any."""
    labels = row.get(key)
    if not is_strings(labels) or not labels:
        raise BrokenRow(f"`{key}` must be a non-empty list of strings")
    return labels
