from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given

from pytest_fcall.core import Call, Outcome
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep
from pytest_fcall.reporting.reports.junit import write
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import Result
from tests.unit.reporting.reports.examples import HOSTILE, account, report, reports, result


def tree(made: Report) -> ET.Element:
    return ET.fromstring("".join(write(made)).encode("utf-8", "strict"))


def properties(element: ET.Element) -> dict[str | None, str | None]:
    return {each.get("name"): each.get("value") for each in element.findall("properties/property")}


@given(reports())
def test_each_result_is_a_testcase_of_its_file_and_model_and_all_are_counted(made: Report) -> None:
    root = tree(made)
    assert root.get("tests") == str(len([*root.iter("testcase")])) == str(len(made.results.results))
    for suite in root:
        cases = suite.findall("testcase")
        assert suite.get("tests") == str(len(cases))
        for name, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert suite.get(name) == str(sum(case.find(element) is not None for case in cases))
        assert len({case.get("file") for case in cases}) == 1
        assert len({properties(case).get("fcall_model") for case in cases}) == 1


@pytest.mark.parametrize(
    ("one", "element", "kind"),
    [
        (result(status="passed"), None, None),
        (result(reasons=(("wrong_value", "calls[0]"),)), "failure", "wrong_value"),
        (result(outcome=Outcome.REGRESSED), "failure", "regressed"),
        (result(outcome=Outcome.UNDECIDED), "failure", "undecided"),
        (result(status="xfailed", outcome=Outcome.KNOWN_FAILURE), "skipped", "pytest.xfail"),
        (result(status="error"), "error", "error"),
        (result(status="error", no_reply=True), "error", "error"),
        (result(status="skipped"), "skipped", "skipped"),
    ],
)
def test_what_is_not_right_says_so(one: Result, element: str | None, kind: str | None) -> None:
    (case,) = tree(report(one)).iter("testcase")
    found = {each.tag: each.get("type") for each in case if each.tag != "properties"}
    assert found == ({element: kind} if element else {})


def test_a_testcase_has_its_place_its_reason_its_calls_and_properties() -> None:
    wrong = result(line=7, tags=("smoke",), seconds=0.25, cost=0.5, samples=(0, 1), reasons=(("wrong_value", "c"),))
    answer = AccountAnswer(False, (AskedStep((), (Call("get", {"city": "Oslo"}),)),), (("wrong_value", "c", "Bern!"),))
    root = tree(report(wrong, accounts={wrong.nodeid: Account(wrong.nodeid, (answer,))}))
    (suite,), (case,) = root, root.iter("testcase")
    assert (suite.get("name"), suite.get("timestamp")) == ("cases/a.fc.yaml (m)", "2026-01-02T03:04:05+00:00")
    assert case.attrib == {
        "classname": "cases/a.fc.yaml",
        "name": "a",
        "file": "cases/a.fc.yaml",
        "line": "7",
        "time": "0.250",
    }
    assert properties(case) == {
        "fcall_model": "m",
        "fcall_category": "simple",
        "fcall_tags": "smoke",
        "fcall_cost": "0.500000",
        "fcall_samples": "0/1",
        "fcall_reasons": "wrong_value at c",
    }
    assert case[1].get("message") == "Bern!"
    assert "cases/a.fc.yaml:7 a (m): wrong" in (case[1].text or "")
    assert case.findtext("system-out") == '✗ get(city: "Oslo")'


def test_a_case_without_an_answer_has_no_calls() -> None:
    lost = result(status="error", no_reply=True)
    asked = Account(lost.nodeid, (AccountAnswer(False, (AskedStep(({"role": "user", "content": "?"},)),)),), error="x")
    (case,) = tree(report(lost, accounts={lost.nodeid: asked})).iter("testcase")
    assert case.find("system-out") is None


def test_one_case_of_two_models_has_two_names() -> None:
    names = [case.get("name") for case in tree(report(result(), result(model="n"))).iter("testcase")]
    assert names == ["a (m)", "a (n)"]


def test_text_from_outside_is_text_and_a_flood_is_cut() -> None:
    hostile = f"{HOSTILE}\x00\x0b\ufffe\uffff]]>&<>\"'{'x' * 1_000_000}"
    wrong = result(hostile, file=hostile, model=hostile, tags=(hostile,), since=(hostile,))
    made = report(wrong, id=HOSTILE, accounts={wrong.nodeid: account(wrong.nodeid, hostile)})
    (case,) = tree(made).iter("testcase")
    assert (case.get("name") or "").startswith("| `x` <script>alert(1)</script>")
    assert "\\x1b[31m\\u202e\\ud800" in (case.get("name") or "")
    assert len("".join(write(made))) < 200_000
