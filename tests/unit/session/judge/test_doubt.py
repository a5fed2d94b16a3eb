from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.core import Model, Outcome
from pytest_fcall.core.verdict import Rate
from pytest_fcall.session.endings import SettingError
from pytest_fcall.session.judge.baselines import Baselines
from pytest_fcall.session.judge.doubt import FALSE_ALARMS, LEAST_BUDGET, Doubt
from pytest_fcall.session.settings import Confirm, Worker
from pytest_fcall.tracking.baseline_content import write_baseline
from pytest_fcall.tracking.baseline_file import baseline_path
from pytest_fcall.tracking.bookkeeping import measurement_path, write_measurement
from pytest_fcall.tracking.measurement import Key, Measurement
from pytest_fcall.tracking.stanza import Stanza
from tests.unit.session.settings import settings_of

KEY = Key("q", "p", "e")
MODEL = "openai:m"


def doubt_of(root: Path, confirm: Confirm, cases: Mapping[str, int], worker: Worker | None = None) -> Doubt:
    settings = replace(settings_of(root), confirm=confirm, worker=worker)
    doubt = Doubt(settings, Baselines(settings.baseline, root))
    doubt.expect(cases, cases, (root / "a.fc.yaml",))
    return doubt


def measure(root: Path, *measured: Measurement, file: str = "a.fc.yaml") -> None:
    """Write a baseline without accepted answers to these cases, and the measurement beside it."""
    path = baseline_path(root / file, Model.by_id(MODEL))
    write_baseline(path, [Stanza("another", True, calls=())])
    write_measurement(measurement_path(path), measured)


@pytest.mark.parametrize(
    ("text", "confirm"),
    [
        ("", Confirm(15, 0.3)),
        ("auto", Confirm(15, 0.3)),
        (" auto  10 % ", Confirm(15, 0.1)),
        ("auto 0%", Confirm(15, 0.0)),
        ("auto 250%", Confirm(15, 2.5)),
        ("0", Confirm(0, None)),
        ("5", Confirm(5, None)),
    ],
)
def test_a_person_says_how_often_cases_are_asked_again(text: str, confirm: Confirm) -> None:
    assert Confirm.parse(text) == confirm


@pytest.mark.parametrize("text", ["often", "-1", "1.5", "auto 10", "10%", "auto ten%", "5 10%", "9999999"])
def test_anything_else_is_refused_with_what_may_be_said(text: str) -> None:
    with pytest.raises(SettingError) as raised:
        Confirm.parse(text)
    assert str(raised.value).startswith(f"--fc-confirm: '{text}' must be auto, a number of further answers, 0 for none")


@pytest.mark.parametrize(
    ("confirm", "cases", "budget"),
    [
        ("auto", 1, LEAST_BUDGET),
        ("auto", 1_000, 300),
        ("auto 10%", 1_000, 100),
        ("auto 10%", 50, LEAST_BUDGET),
        ("auto 0%", 1_000, 0),
    ],
)
def test_further_answers_are_granted_until_the_budget_is_spent(
    tmp_path: Path, confirm: str, cases: int, budget: int
) -> None:
    doubt = doubt_of(tmp_path, Confirm.parse(confirm), {"m": cases // 2, "n": cases - cases // 2})
    granted = 0
    while more := doubt.grant(7):
        granted += more
    assert granted == budget
    assert doubt.grant(1) == 0


def test_a_number_that_a_person_says_has_no_budget(tmp_path: Path) -> None:
    doubt = doubt_of(tmp_path, Confirm.parse("5"), {MODEL: 1})
    assert [doubt.grant(5) for _ in range(100)] == [5] * 100


def test_workers_share_the_budget(tmp_path: Path) -> None:
    doubt = doubt_of(tmp_path, Confirm(), {MODEL: 1_000}, Worker("gw0", 4, "run"))
    assert doubt.grant(1_000) == 75


def test_each_of_many_workers_may_decide_one_case(tmp_path: Path) -> None:
    worker = Worker("gw0", 64, "run")
    assert doubt_of(tmp_path, Confirm(), {MODEL: 100}, worker).grant(1_000) == Confirm().most
    assert doubt_of(tmp_path, Confirm(budget=0.0), {MODEL: 100}, worker).grant(1) == 0


def test_the_level_is_that_of_a_run_divided_by_the_cases_of_the_model(tmp_path: Path) -> None:
    doubt = doubt_of(tmp_path, Confirm(), {MODEL: 200, "openai:n": 5})
    assert doubt.test(MODEL, 13, is_asked=True).level == FALSE_ALARMS / 200
    assert doubt.test("openai:n", 13, is_asked=True).level == FALSE_ALARMS / 5
    assert doubt.test("openai:new", 13, is_asked=True).level == FALSE_ALARMS


@pytest.mark.parametrize(
    ("confirm", "is_asked", "unanimous"),
    [
        ("auto", True, Outcome.UNDECIDED),
        ("auto 0%", True, Outcome.UNDECIDED),
        ("auto", False, Outcome.REGRESSED),
        ("5", True, Outcome.REGRESSED),
        ("0", True, Outcome.REGRESSED),
    ],
)
def test_only_where_the_plugin_decides_how_often_to_ask_a_case_is_left_open(
    tmp_path: Path, confirm: str, is_asked: bool, unanimous: Outcome
) -> None:
    test = doubt_of(tmp_path, Confirm.parse(confirm), {MODEL: 1}).test(MODEL, 3, is_asked=is_asked)
    assert (test.most, test.unanimous) == (3, unanimous)


def test_the_measured_cases_of_the_model_say_how_cases_vary(tmp_path: Path) -> None:
    steady = doubt_of(tmp_path, Confirm(), {MODEL: 1})
    before = steady.test(MODEL, 13, is_asked=True).rates.chance(Rate(1, 1), Rate(0, 3))
    measure(tmp_path, *(Measurement(f"c{number}", KEY, Rate(3, 6), until="1") for number in range(200)))
    varying = doubt_of(tmp_path, Confirm(), {MODEL: 1})

    assert varying.test(MODEL, 13, is_asked=True).rates.chance(Rate(1, 1), Rate(0, 3)) > 5 * before
    assert varying.test("openai:n", 13, is_asked=True).rates.chance(Rate(1, 1), Rate(0, 3)) == before


def test_evidence_is_what_is_measured_of_the_same_case(tmp_path: Path) -> None:
    measure(tmp_path, Measurement("oslo", KEY, Rate(3, 4), frozenset("a"), "1"))
    doubt, file = doubt_of(tmp_path, Confirm(), {MODEL: 1}), tmp_path / "a.fc.yaml"

    found = doubt.evidence(file, MODEL, "oslo", replace(KEY, question="q2"))

    assert found is not None
    assert (found.before, found.ways) == (Rate(3, 4), frozenset("a"))
    assert doubt.evidence(file, MODEL, "oslo", replace(KEY, prompt="p2")) is None
    assert doubt.evidence(file, MODEL, "oslo", replace(KEY, expectation="e2")) is None
    assert doubt.evidence(file, MODEL, "rome", KEY) is None
    assert doubt.evidence(tmp_path / "b.fc.yaml", MODEL, "oslo", KEY) is None
    assert doubt.evidence(file, "openai:n", "oslo", KEY) is None
