"""The figures of docs/explanation/metrics.md are those of the functions, and no score is left out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from pytest_fcall.conversation.named_scores import SCORES
from pytest_fcall.conversation.score_formulas import GradedParts, grade_functions, grade_parameters, state_f1
from pytest_fcall.core import Call
from tests.corpus_scores import api_f1, lcs_f1, parameter_f1

PAGE = (Path(__file__).parents[2] / "docs/explanation/metrics.md").read_text(encoding="utf-8")
GRADED = re.findall(r"^\| (`.*`) \| (`.*`) \| (\d/\d) \| (\d/\d) \|$", PAGE, re.MULTILINE)
SEND, REMIND = Call("send", {"recipient": "Joy"}), Call("remind", {"date": "tonight"})
STATE: dict[str, object] = dict(zip("abcdef", range(6), strict=True))


def calls(text: str) -> list[Call]:
    """Read `f(n=1)` as the page writes calls."""
    found = []
    for written in re.findall("`([^`]*)`", text):
        call = ast.parse(written, mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        found.append(Call(call.func.id, {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}))
    return found


def test_there_are_graded_calls() -> None:
    assert len(GRADED) == 8


@pytest.mark.parametrize(("made", "right", "functions", "parameters"), GRADED)
def test_how_calls_are_graded(made: str, right: str, functions: str, parameters: str) -> None:
    assert counted(grade_functions(calls(made), calls(right))) == functions
    assert counted(grade_parameters(calls(made), calls(right))) == parameters


def counted(graded: GradedParts) -> str:
    return f"{graded.right}/{graded.total}"


@pytest.mark.parametrize(
    ("what", "made"),
    [
        ("the same", [SEND, REMIND]),
        ("in the other order", [REMIND, SEND]),
        ("the first call only", [SEND]),
        ("and one call more", [SEND, REMIND, Call("x", {})]),
        ('`date="today"`', [SEND, Call("remind", {"date": "today"})]),
        ("nothing", []),
    ],
)
def test_how_calls_are_scored(what: str, made: list[Call]) -> None:
    sample = [([SEND, REMIND], made)]
    scores = (api_f1(sample), parameter_f1(sample), lcs_f1(sample))
    assert f"| {what} | " + " | ".join(f"{score.f1:.4f}" for score in scores) + " |" in PAGE


@pytest.mark.parametrize(
    ("what", "state"),
    [
        ("the same", STATE),
        ("one is missing", {key: value for key, value in STATE.items() if key != "a"}),
        ("one is wrong", {**STATE, "a": "0"}),
        ("there is one more", {**STATE, "g": 1}),
        ("nothing", {}),
    ],
)
def test_how_states_are_scored(what: str, state: dict[str, object]) -> None:
    found = state_f1(state, STATE)
    assert f"| {what} | {found.precision:.4f} | {found.recall:.4f} | {found.f1:.4f} |" in PAGE


@pytest.mark.parametrize("name", SCORES)
def test_every_score_is_explained(name: str) -> None:
    assert f"`{name}`" in PAGE
