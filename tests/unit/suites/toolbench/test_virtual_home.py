"""The worked examples of the task that is scored by its steps."""

from __future__ import annotations

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.toolbench.judge import ToolBenchScore, score_row
from pytest_fcall.suites.toolbench.virtual_home import KNOWN_ACTIONS, Actions, actions_from_data

LABEL = """\
Agent.WalkTo(bedroom)
Agent.WalkTo(floor_lamp)
Agent.Find(floor_lamp)
Agent.SwitchOn(floor_lamp)
Agent.Find(novel)
Agent.Grab(novel)
Agent.Read(novel)"""


def scored(prediction: str | None, *labels: str, actions: Actions = KNOWN_ACTIONS) -> ToolBenchScore:
    row: dict[str, Json] = {"task": "virtual_home", "prediction": prediction, "labels": list(labels)}
    return score_row(row, actions)


@pytest.mark.parametrize(
    ("prediction", "crashed", "lcs"),
    [
        (LABEL, False, 1),
        ("\n".join(f'{number}. "{line}";' for number, line in enumerate(LABEL.split("\n"), 1)), False, 1),
        (f"\n  {LABEL}\n\nTask: another\nAgent.Eat(novel)", False, 1),
        (LABEL.replace("Agent.Find(novel)\n", ""), False, 6 / 7),
        (LABEL.replace("Grab(novel)", "Grab(book)"), True, 6 / 7),
        (LABEL.replace("Read(novel)", "Eat(novel)"), True, 6 / 7),
        (LABEL.replace("Read(novel)", "Read( novel )"), False, 6 / 7),
        (f"{LABEL}\nAgent.Put(novel, dresser)", False, 7 / 8),
        (f"{LABEL}\nAgent.StandUp()", False, 7 / 8),
        (f"{LABEL}\nAgent.StandUp(novel)", True, 7 / 8),
        (f"{LABEL}\nAgent.Put(novel)", True, 7 / 8),
        (f"{LABEL}\nAgent.Put(novel, dresser, bed)", True, 7 / 8),
        (f"{LABEL}\nAgent.Open", True, 7 / 8),
        (f"{LABEL}\nDone.", True, 7 / 8),
        (f"{LABEL}\n;", True, 1),
        ("", False, 0),
    ],
)
def test_steps_are_scored_by_order_and_by_what_can_be_done(prediction: str, crashed: bool, lcs: float) -> None:
    assert scored(prediction, LABEL) == ToolBenchScore(crashed=crashed, lcs_score=lcs)


def test_a_blank_is_another_line() -> None:
    assert scored("Agent.Put(novel,dresser)", "Agent.Put(novel, dresser)") == ToolBenchScore(False, lcs_score=0)


def test_an_answer_that_never_came_is_a_crash() -> None:
    assert scored(None, LABEL) == ToolBenchScore(crashed=True, lcs_score=0)


def test_the_best_label_counts() -> None:
    assert scored("Agent.Sleep()", LABEL, "Agent.Sleep()\nAgent.WakeUp()").lcs_score == 0.5


def test_what_labels_do_can_be_done() -> None:
    assert scored("Agent.Juggle(ball)", "Agent.Juggle(ball)") == ToolBenchScore(False, lcs_score=1)
    assert scored("Agent.Juggle(bed)", "Agent.Juggle(ball)").crashed
    assert scored("Agent.Juggle(ball, ball)", "Agent.Juggle(ball)").crashed


def test_the_tasks_own_lists_are_read() -> None:
    actions = actions_from_data(
        {"Agent.Open": {"object": ["door"]}, "Agent.Sleep": {}, "Agent.Put": {"object2": ["b"], "object1": ["a"]}}
    )
    assert not scored("Agent.Open(door)\nAgent.Sleep()\nAgent.Put(a, b)", "Agent.Sleep()", actions=actions).crashed
    for line in ("Agent.Open(window)", "Agent.Put(b, a)", "Agent.Close(door)", "Agent.Open()"):
        assert scored(line, "Agent.Sleep()", actions=actions).crashed


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ([], "expected an object of actions"),
        ({"A": []}, "`A` must have `object`, or `object1` and `object2`, and nothing else"),
        ({"A": {"object1": ["a"]}}, "`A` must have `object`, or `object1` and `object2`, and nothing else"),
        ({"A": {"object": "a"}}, "the objects of `A` must be a list of names"),
        ({"A": {"object": [1]}}, "the objects of `A` must be a list of names"),
    ],
)
def test_other_lists_are_told_of(data: Json, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}$"):
        actions_from_data(data)
