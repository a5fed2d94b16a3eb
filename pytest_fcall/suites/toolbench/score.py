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
from pytest_fcall.suites.json_files import BrokenRow
from pytest_fcall.suites.toolbench.apis import Booking, CallRefused, Date, HomeSearch, Loc
from pytest_fcall.suites.toolbench.virtual_home import Actions, is_known_step, parse_step, step_lines

_StateKey = TypeVar("_StateKey", bound=Hashable)
_MOST_NAMED: Final = 3


def describe_differences(state: Mapping[_StateKey, object], expected: Mapping[_StateKey, object]) -> str:
    """Name the keys whose values differ, the first three; nothing where none does."""
    found = list(_differences(state, expected))
    more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return "; ".join(found[:_MOST_NAMED]) + more


def _differences(state: Mapping[_StateKey, object], expected: Mapping[_StateKey, object]) -> Iterator[str]:
    for key in (*expected, *(key for key in state if key not in expected)):
        if key not in state:
            yield f"`{key}` is missing, expected {shown(expected[key])}"
        elif key not in expected:
            yield f"`{key}` is {shown(state[key])}, expected nothing"
        elif state[key] != expected[key]:
            yield f"`{key}` is {shown(state[key])}, expected {shown(expected[key])}"


Api = HomeSearch | Booking

_VALUE_CLASSES: Mapping[type[Api], Mapping[str, Callable[..., object]]] = MappingProxyType(
    {HomeSearch: {}, Booking: {"Date": Date, "Loc": Loc}}
)


class ProgramCrashed(Exception):
    """A program cannot be carried out to its end. The text says why."""


def final_state(program: str, kind: type[Api]) -> Mapping[str, object]:
    """Carry a program out on a new API, and give the criteria that it has set."""
    api = kind()
    try:
        run_program(program, lambda asked: _call_api(api, asked))
    except (
        MalformedProgram,
        CallRefused,
        TypeError,
    ) as error:  # the last is Python's, for arguments that a method does not have
        raise ProgramCrashed(str(error)) from None
    return api.criteria


def _call_api(api: Api, asked: ProgramCall) -> object:
    if maker := _VALUE_CLASSES[type(api)].get(asked.name):
        return maker(*asked.positional, **asked.named)
    place, _, name = asked.name.rpartition(".")
    if place == "API" and name in api.setters:
        api.set(api.setters[name], *asked.positional, **asked.named)
    elif place == "API" and name in api.methods:
        getattr(api, name)(*asked.positional, **asked.named)
    else:
        raise CallRefused(f"there is no {asked.name:.60}")
    return None


_API_OF_TASK: Mapping[str, type[Api]] = MappingProxyType({"home_search": HomeSearch, "booking": Booking})
_STEPS_TASK = "virtual_home"
_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ToolBenchScore:
    """What the original evaluator says; None where it has nothing to say for this task."""

    crashed: bool
    success: bool | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    lcs_score: float | None = None
    why: str = field(default="", compare=False)
    """What is wrong, in words, where that is known."""


CRASHED: Final = ToolBenchScore(True, False, 0, 0, 0, 0)


def score_row(row: Mapping[str, Json], actions: Actions) -> ToolBenchScore:
    """Score the `prediction` for a `task` by the best of its `labels`; BrokenRow where that cannot be done.

    A prediction of null is an answer that never came: a crash. `actions` are what an agent in a virtual home can do,
    beside what it does in the labels.
    """
    task, prediction, labels = row.get("task"), row.get("prediction"), right_answers(row, "labels")
    if prediction is not None and not isinstance(prediction, str):
        raise BrokenRow("`prediction` is neither text nor null")
    if task == _STEPS_TASK:
        return _scored_by_steps(prediction, labels, actions)
    if not isinstance(task, str) or task not in _API_OF_TASK:
        raise BrokenRow(f"`task` is not one of {', '.join((*_API_OF_TASK, _STEPS_TASK))}, which need no network")
    return _scored_by_state(prediction, labels, _API_OF_TASK[task])


def _scored_by_state(prediction: str | None, labels: Sequence[str], kind: type[Api]) -> ToolBenchScore:
    expected = [_expected_state(label, kind) for label in labels]
    if prediction is None:
        return CRASHED
    try:
        state = final_state(prediction, kind)
    except ProgramCrashed as error:
        return replace(CRASHED, why=str(error))
    return score_state(state, expected)


def score_state(state: Mapping[_Key, object], expected: Iterable[Mapping[_Key, object]]) -> ToolBenchScore:
    """Score what an answer comes to by the nearest of what is right."""
    best, nearest = max(((state_f1(state, each), each) for each in expected), key=lambda found: found[0].f1)
    return ToolBenchScore(
        False, best.f1 == 1, best.precision, best.recall, best.f1, why=describe_differences(state, nearest)
    )


def _expected_state(label: str, kind: type[Api]) -> Mapping[str, object]:
    try:
        return final_state(label, kind)
    except ProgramCrashed as error:
        raise BrokenRow(f"a label cannot be carried out: {error}") from None


def _scored_by_steps(prediction: str | None, labels: Sequence[str], actions: Actions) -> ToolBenchScore:
    if prediction is None:
        return ToolBenchScore(True, lcs_score=0)
    expected = [step_lines(label) for label in labels]
    known = actions.with_those_of([step for lines in expected for line in lines if (step := parse_step(line))])
    lines = step_lines(prediction)
    crash = next((f"there is no step {shortened(line)}" for line in lines if not is_known_step(line, known)), "")
    kept = [line for line in lines if line]
    best = max(lcs_score(kept, [line for line in each if line]) for each in expected)
    return ToolBenchScore(bool(crash), lcs_score=best, why=crash)


def right_answers(row: Mapping[str, Json], key: str) -> list[str]:
    """The right answers of a row; BrokenRow where it has none."""
    labels = row.get(key)
    if not isinstance(labels, list) or not labels or not all(isinstance(label, str) for label in labels):
        raise BrokenRow(f"`{key}` is no list of texts, or empty")
    return [str(label) for label in labels]
