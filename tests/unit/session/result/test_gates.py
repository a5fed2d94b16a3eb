"""What gates compare, and what their lines say."""

from __future__ import annotations

import pytest

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.results import Result, Status
from pytest_fcall.session.endings import SettingError
from pytest_fcall.session.result.gates import gate_verdict_lines, read_gates

MODEL = "openai:a"


def results(
    count: int,
    outcome: Outcome | None = Outcome.OK,
    *,
    model: str = MODEL,
    category: str = "simple",
    tags: tuple[str, ...] = (),
    file: str = "a.fc.yaml",
    before: tuple[int, int] | None = (1, 1),
) -> list[Result]:
    right = outcome in (None, Outcome.OK, Outcome.FIXED)
    status: Status = "passed" if right else "failed"
    each = Result("", "", model, status, category, tags, file=file, outcome=outcome, before=before)
    return [each] * count


def lines(gate: str, *groups: list[Result]) -> list[str]:
    gates = read_gates([("--fc-gate", gate)], "", tuple)
    return gate_verdict_lines(gates.judge([each for group in groups for each in group], {}))


def verdict(gate: str, *groups: list[Result]) -> str:
    (line,) = lines(gate, *groups)
    return line.removeprefix(f"gate {gate}").strip()


def test_each_model_is_judged_by_itself_and_the_one_that_failed_is_named() -> None:
    found = verdict(
        "significant(0.05)",
        results(37, Outcome.FIXED, before=(0, 1)) + results(63),
        results(30, Outcome.REGRESSED, model="openai:b") + results(70, model="openai:b"),
    )
    assert found == "p < 0.001  does not hold: openai:b 100.0 % → 70.0 % right, 100 cases, p < 0.001"


def test_p_values_are_adjusted_for_the_number_of_models() -> None:
    lost = results(5, Outcome.REGRESSED) + results(15)
    assert verdict("significant(0.05)", lost).startswith("p = 0.031  does not hold")
    assert verdict("significant(0.05)", lost, results(20, model="openai:b")).startswith("p = 0.062  holds")


def test_a_gate_may_choose_one_model() -> None:
    bad = results(9, Outcome.REGRESSED, model="openai:b")
    assert verdict("significant(0.05)[openai:a]", results(9), bad).startswith("p = 1.000  holds")


@pytest.mark.parametrize(
    ("by", "name"),
    [
        ("category", "parallel of openai:a"),
        ("tag", "slow of openai:a"),
        ("file", "b.fc.yaml of openai:a"),
    ],
)
def test_a_test_by_slices_names_the_one_that_failed(by: str, name: str) -> None:
    lost = results(10, Outcome.REGRESSED, category="parallel", tags=("slow", "late"), file="b.fc.yaml")
    won = results(30, Outcome.FIXED, before=(0, 1))
    assert verdict("significant(0.05)", lost, won).startswith("p = 1.000  holds")
    found = verdict(f"significant(0.05, by={by})", lost, won)
    assert f"does not hold: {name} 100.0 % → 0.0 % right, 10 cases, p = 0.00" in found


def test_cases_without_a_tag_are_a_slice_too() -> None:
    found = verdict("significant(0.05, by=tag)", results(9, Outcome.REGRESSED), results(9, tags=("a",)))
    assert "does not hold: cases without a tag of openai:a 100.0 %" in found


def test_the_slices_of_one_model_are_not_counted_with_those_of_another() -> None:
    won = results(9, Outcome.FIXED, model="openai:b", before=(0, 1))
    found = verdict("significant(0.05, by=category)", results(9, Outcome.REGRESSED), won)
    assert "does not hold: simple of openai:a 100.0 %" in found


def test_at_most_three_slices_are_named() -> None:
    groups = [results(9, Outcome.REGRESSED, category=f"c{n}") for n in range(5)]
    found = verdict("significant(0.05, by=category)", *groups)
    assert found.count(" of openai:a ") == 3
    assert found.endswith("; and 2 more")


def test_a_test_that_holds_says_how_small_a_drop_it_sees() -> None:
    assert verdict("significant(0.05)", results(20)) == (
        "p = 1.000  holds: sees a drop of 25 points or more with 20 cases"
    )
    assert verdict("significant(0.05)", results(400)).endswith("a drop of 1.3 points or more with 400 cases")
    assert verdict("significant(0.05)", results(500)).endswith("a drop of 1 point or more with 500 cases")


def test_a_test_of_several_parts_says_it_of_each() -> None:
    found = verdict("significant(0.05)", results(100), results(3, model="openai:b"))
    assert found.endswith(
        "holds: sees none with 3 cases of openai:b; a drop of 6 points or more with 100 cases of openai:a"
    )


def test_a_test_that_could_not_have_failed_is_inconclusive() -> None:
    assert verdict("significant(0.05)", results(4)) == (
        "p = 1.000  inconclusive: with 4 cases it could not fail, even if all were wrong"
    )


def test_edited_cases_and_those_without_a_measurement_are_left_out_and_counted() -> None:
    renamed = results(30, Outcome.FIXED, before=None)
    lost = results(12, Outcome.REGRESSED) + results(60)
    edited = results(3, Outcome.EDITED, before=None)
    expected = "does not hold: openai:a 100.0 % → 83.3 % right, 72 cases, p < 0.001; "
    assert verdict("significant(0.05)", lost, renamed).endswith(f"{expected}30 cases without a measurement left out")
    assert verdict("significant(0.05)", lost, edited).endswith(f"{expected}3 edited cases left out")
    assert verdict("significant(0.05)", lost, edited[:1], renamed).endswith(
        f"{expected}1 edited case and 30 without a measurement left out"
    )


def test_a_gate_on_regressions_says_which_cases_it_does_not_count() -> None:
    edited = results(3, Outcome.EDITED, before=None)
    assert verdict("regressions<=0", results(5), edited) == "0  holds: 3 edited cases left out"


@pytest.mark.parametrize(
    ("gate", "expected"),
    [
        ("regressions<=0", "2  does not hold"),
        ("fixed<=1", "1  holds"),
        ("flaky<=0", "4  does not hold"),
        ("undecided<=0", "3  does not hold"),
        ("edited<=0", "5  does not hold"),
        ("accuracy>=0.5", "36.0 %  does not hold"),
    ],
)
def test_outcomes_are_figures(gate: str, expected: str) -> None:
    groups = [
        results(8),
        results(2, Outcome.REGRESSED),
        results(1, Outcome.FIXED, before=(0, 1)),
        results(4, Outcome.FLAKY),
        results(3, Outcome.UNDECIDED),
        results(5, Outcome.EDITED, before=None),
        results(2, Outcome.KNOWN_FAILURE, before=(0, 1)),
    ]
    assert verdict(gate, *groups).startswith(expected)


def test_a_slice_that_is_misspelt_is_a_setting_error_that_points() -> None:
    with pytest.raises(SettingError) as raised:
        read_gates([("--fc-gate", "significant(0.05, by=models)")], "", tuple)
    assert str(raised.value).splitlines() == [
        "--fc-gate: a test by 'models' is unknown; did you mean `model`?",
        "  significant(0.05, by=models)",
        "                       ^",
    ]
