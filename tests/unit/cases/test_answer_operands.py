"""Operators on answers, in case files."""

from __future__ import annotations

from pathlib import Path

import pytest

import pytest_fcall.cases.scope
from pytest_fcall.core import Operator
from tests.unit.cases.reading import case, faults


def answer(written: str) -> str:
    return f"prompt: x\nexpect: no_call\nanswer: {written}"


@pytest.mark.parametrize(
    ("written", "operator"),
    [
        ("{$number: 42.1, within: 1%}", Operator("number", 42.1, {"within": "1%"})),
        ("{$normalised: Oslo}", Operator("normalised", "Oslo")),
        ("{$rouge: Oslo, least: 0.7}", Operator("rouge", "Oslo", {"least": 0.7})),
        ("{$structure: {a: 1}}", Operator("structure", {"a": 1})),
        (
            "{$json: {a: {$ordered: [1]}}, in: text, lists: any_order, round: 2}",
            Operator("json", {"a": Operator("ordered", [1])}, {"in": "text", "lists": "any_order", "round": 2}),
        ),
    ],
)
def test_operators_on_answers_are_read_with_their_options(written: str, operator: Operator, tmp_path: Path) -> None:
    assert case(answer(written), tmp_path).turns[0].answer == operator


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{$number: many}", "the operand must be a number, not a string"),
        ("{$number: 1, within: -1}", "a tolerance must not be negative"),
        ("{$rouge: x, least: 70}", "the operand must be a number from 0 to 1"),
        ("{$json: {}, in: prose}", "`in` cannot be `prose`"),
        ("{$json: [], lists: sorted}", "`lists` cannot be `sorted`"),
        ("{$json: 1, round: 16}", "the number of digits must be at most 15"),
        ("{$json: 1, round: 0.5}", "the number of digits must be an integer, not the value `0.5`"),
        ("{$approx: 1, round: -1}", "the number of digits must not be negative"),
    ],
)
def test_what_an_option_does_not_take_is_a_fault(written: str, message: str, tmp_path: Path) -> None:
    (fault,) = faults(answer(written), tmp_path)
    assert fault.message == message


def test_an_operator_whose_library_is_missing_is_a_fault_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytest_fcall.cases.scope, "find_spec", lambda _: None)
    (fault,) = faults(answer("{$rouge: x}"), tmp_path)
    assert fault.code == "not-installed"
    assert fault.hint == 'pip install "pytest-fcall[text]"'


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ("days: {$number: 5}", "`get_weather`: `days` must be an integer, which `$number` can never match"),
        ("days: {$structure: a}", "`get_weather`: `days` must be an integer, which `$structure` can never match"),
        ("unit: {$structure: [1]}", "`get_weather`: `unit` must be a string, which `$structure` can never match"),
        ("days: {$ordered: [1]}", "`get_weather`: `days` must be an integer, which `$ordered` can never match"),
    ],
)
def test_an_operator_that_fits_no_value_of_an_argument_is_a_fault(expected: str, message: str, tmp_path: Path) -> None:
    (fault,) = faults(f"prompt: x\nexpect: [{{get_weather: {{city: Oslo, {expected}}}}}]", tmp_path)
    assert fault.message == message


def test_a_structure_may_hold_any_value_of_the_right_type(tmp_path: Path) -> None:
    written = "unit: {$structure: kelvin}, days: {$structure: 1.5}"
    case(f"prompt: x\nexpect: [{{get_weather: {{city: Oslo, {written}}}}}]", tmp_path)
