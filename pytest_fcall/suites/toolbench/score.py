"""One stored answer, scored by the original rules."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, TypeVar

from pytest_fcall.conversation.scores import lcs_score, state_f1
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.wording import shortened
from pytest_fcall.suites.json_lines import BrokenRow
from pytest_fcall.suites.toolbench.actions import Actions
from pytest_fcall.suites.toolbench.booking import Booking
from pytest_fcall.suites.toolbench.differences import differences
from pytest_fcall.suites.toolbench.home_search import HomeSearch
from pytest_fcall.suites.toolbench.states import Api, Crashed, final_state
from pytest_fcall.suites.toolbench.steps import is_executable, lines_of, step_of

_APIS: Mapping[str, type[Api]] = MappingProxyType({"home_search": HomeSearch, "booking": Booking})
_STEPS = "virtual_home"
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


def score(row: Mapping[str, Json], actions: Actions) -> ToolBenchScore:
    """Score the `prediction` for a `task` by the best of its `labels`; BrokenRow where that cannot be done.

    A prediction of null is an answer that never came: a crash. `actions` are what an agent in a virtual home can do,
    beside what it does in the labels.
    """
    task, prediction, labels = row.get("task"), row.get("prediction"), labels_of(row, "labels")
    if prediction is not None and not isinstance(prediction, str):
        raise BrokenRow("`prediction` is neither text nor null")
    if task == _STEPS:
        return _scored_by_steps(prediction, labels, actions)
    if not isinstance(task, str) or task not in _APIS:
        raise BrokenRow(f"`task` is not one of {', '.join((*_APIS, _STEPS))}, which need no network")
    return _scored_by_state(prediction, labels, _APIS[task])


def _scored_by_state(prediction: str | None, labels: Sequence[str], kind: type[Api]) -> ToolBenchScore:
    expected = [_expected_state(label, kind) for label in labels]
    if prediction is None:
        return CRASHED
    try:
        state = final_state(prediction, kind)
    except Crashed as error:
        return replace(CRASHED, why=str(error))
    return compared(state, expected)


def compared(state: Mapping[_Key, object], expected: Iterable[Mapping[_Key, object]]) -> ToolBenchScore:
    """Score what an answer comes to by the nearest of what is right."""
    best, nearest = max(((state_f1(state, each), each) for each in expected), key=lambda found: found[0].f1)
    return ToolBenchScore(False, best.f1 == 1, best.precision, best.recall, best.f1, why=differences(state, nearest))


def _expected_state(label: str, kind: type[Api]) -> Mapping[str, object]:
    try:
        return final_state(label, kind)
    except Crashed as error:
        raise BrokenRow(f"a label cannot be carried out: {error}") from None


def _scored_by_steps(prediction: str | None, labels: Sequence[str], actions: Actions) -> ToolBenchScore:
    if prediction is None:
        return ToolBenchScore(True, lcs_score=0)
    expected = [lines_of(label) for label in labels]
    known = actions.with_those_of([step for lines in expected for line in lines if (step := step_of(line))])
    lines = lines_of(prediction)
    crash = next((f"there is no step {shortened(line)}" for line in lines if not is_executable(line, known)), "")
    kept = [line for line in lines if line]
    best = max(lcs_score(kept, [line for line in each if line]) for each in expected)
    return ToolBenchScore(bool(crash), lcs_score=best, why=crash)


def labels_of(row: Mapping[str, Json], key: str) -> list[str]:
    """The right answers of a row; BrokenRow where it has none."""
    labels = row.get(key)
    if not isinstance(labels, list) or not labels or not all(isinstance(label, str) for label in labels):
        raise BrokenRow(f"`{key}` is no list of texts, or empty")
    return [str(label) for label in labels]
