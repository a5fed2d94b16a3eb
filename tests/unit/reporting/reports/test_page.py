from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser

import pytest
from hypothesis import given

from pytest_fcall.core import Call, Json, Outcome, Tool
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep
from pytest_fcall.reporting.reports.page.case_detail import definition_text
from pytest_fcall.reporting.reports.page.charts import ChartSeries, histogram, radar
from pytest_fcall.reporting.reports.page.page import data_of, write
from pytest_fcall.reporting.reports.report import EarlierResult, EarlierRun, Report
from pytest_fcall.reporting.results import Results
from pytest_fcall.session.result.compared_runs import compare_models
from tests.unit.reporting.reports.examples import HOSTILE, account, report, reports, result

EMPTY = {"meta", "input", "br"}


class Elements(HTMLParser):
    """The elements of a page, which must close in their order, with the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.names: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self.feed(text)
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in EMPTY:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] not in ("script", "style"):
            self.text.append(data)


def page(made: Report) -> str:
    return "".join(write(made))


def test_answers_that_are_accepted_and_gone_are_listed() -> None:
    gone = tuple(("cases/__fcall__/m/a.yaml.yaml", f"<old> {number}") for number in range(60))
    text = page(report(results=Results((result(status="passed"),), stale=gone)))
    assert "60 stale: accepted, and in no case file any more" in text
    assert "&lt;old&gt; 49 " in text
    assert "<li>and 10 more</li>" in text


def test_known_failures_are_listed() -> None:
    known = [result(f"k{number}", status="xfailed", outcome=Outcome.KNOWN_FAILURE) for number in range(3)]
    text = page(report(*known, status=0))
    assert "3 known failures</span>" in text
    assert ">k2</a>" in text


def test_a_tool_that_is_wrong_more_often_than_others_is_named() -> None:
    wrong = [result(f"w{number}", called=(("book", "find"),)) for number in range(6)]
    right = [result(f"r{number}", status="passed", called=(("find", "find"),)) for number in range(30)]
    assert "6 of 6 that expect book are wrong, 0 of the other 30" in page(report(*wrong, *right))


def test_changed_words_are_marked_also_in_what_cases_have_in_common() -> None:
    changed = result(causes=("the system prompt changed: [-kind <b>-]{+brief+} {+-] [-+} x",))
    text = page(report(changed))
    assert "the system prompt changed: <del>kind &lt;b&gt;</del><ins>brief</ins> <ins>-] [-</ins> x (1 case)" in text


@given(reports())
def test_a_page_has_its_own_elements_and_no_others(made: Report) -> None:
    found = Elements(page(made))
    assert found.names.count("script") == 2
    assert not {"img", "iframe", "link", "object", "embed"} & {*found.names}
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert all(value.startswith("#") for name, value in found.attributes if name == "href")
    assert not [value for name, value in found.attributes if name == "style"]


@given(reports())
def test_a_page_is_text_that_can_be_written(made: Report) -> None:
    assert page(made).encode("utf-8", "strict")


def unpacked(made: Report) -> list[dict[str, object]]:
    data = json.loads(data_of(made))
    return [each for portion in data["packed"] for each in json.loads(zlib.decompress(base64.b64decode(portion)))]


@given(reports())
def test_each_result_has_a_row_and_what_was_asked_and_answered(made: Report) -> None:
    data = data_of(made)
    assert "<" not in data
    rows = json.loads(data)["rows"]
    assert len(rows) == len(unpacked(made)) == len(made.results.results)
    assert all(len(row) == 18 for row in rows)


def test_text_from_outside_is_shown_as_text() -> None:
    wrong = result(HOSTILE, outcome=Outcome.REGRESSED, since=(HOSTILE,))
    text = "".join(Elements(page(report(wrong))).text)
    assert "<script>alert(1)</script>" in text
    assert "\\x1b[31m\\u202e\\ud800" in text


def test_a_long_text_loses_its_middle() -> None:
    wrong = result()
    (detail,) = unpacked(report(wrong, accounts={wrong.nodeid: account(wrong.nodeid, "x" * 1_000_000)}))
    assert len(json.dumps(detail)) < 300_000
    assert "characters left out" in json.dumps(detail)


def test_a_case_shows_how_it_ended_in_the_runs_before() -> None:
    now = result("a", "passed")
    before = [
        EarlierRun("1", "2026-01-01", {now.nodeid: EarlierResult("failed", None)}),
        EarlierRun("2", "2026-01-02", {}),
        EarlierRun("3", "2026-01-03", {now.nodeid: EarlierResult("passed", None)}),
    ]
    (row,) = json.loads(data_of(report(now, earlier=before)))["rows"]
    assert row[15] == "w.r"


def test_the_policy_lets_nothing_in_but_the_script_and_style_of_the_page() -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page(report(result())))
    assert policy.startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in policy


def test_a_radar_has_a_spoke_for_each_category_that_all_answered_and_a_line_for_each_model() -> None:
    series = [ChartSeries("m", [1.0, 0.5, None, 0.2]), ChartSeries("n", [0.0, 0.0, 0.0, 0.0])]
    drawn = radar(["a", "b<", "other", "c"], series)
    assert drawn.count("<text") == 3
    assert drawn.count('class="line') == 2
    assert "b&lt;" in drawn
    assert "other" not in drawn
    assert radar(["a", "other", "c"], [ChartSeries("m", [1.0, None, 0.2])]) == ""


def test_a_histogram_counts_each_value_once() -> None:
    drawn = histogram({"m": [0.1, 0.11, 5.0], "n": [1e-9]}, "Seconds")
    assert sum(int(count) for count in re.findall(r": (\d+)</title>", drawn)) == 4


def test_a_histogram_of_nothing_is_none() -> None:
    assert histogram({"m": [], "n": [0.0]}, "Seconds") == ""


def test_tools_are_written_once_for_all_cases() -> None:
    results = [result(f"c{number}") for number in range(50)]
    accounts = {each.nodeid: Account(each.nodeid, offered="set") for each in results}
    made = report(
        *results, accounts=accounts, offered={"set": [Tool("find", "x" * 500)], "other": [Tool("find", "x" * 500)]}
    )
    packed = json.loads(zlib.decompress(base64.b64decode(json.loads(data_of(made))["tools"])))
    assert [len(packed["definitions"]), packed["sets"]] == [1, {"set": [0], "other": [0]}]
    assert {detail["offered"] for detail in unpacked(made)} == {"set"}


def test_tools_nested_without_end_are_shown_as_far_as_people_read() -> None:
    deep: Json = {}
    for _ in range(5_000):
        deep = {"items": deep}
    assert definition_text(Tool("find", "Finds.", {"x": deep})).startswith("Finds.")


def test_models_that_call_alike_have_one_number() -> None:
    cities = {"m": "Oslo", "n": "Oslo", "o": "Rome"}
    results = [result("a", model=model, nodeid=model) for model in cities]
    steps = {model: AskedStep((), (Call("find", {"city": city}),)) for model, city in cities.items()}
    accounts = {model: Account(model, (AccountAnswer(True, (step,)),)) for model, step in steps.items()}
    assert [row[16] for row in json.loads(data_of(report(*results, accounts=accounts)))["rows"]] == [0, 0, 1]


@pytest.mark.parametrize("shown", [-7, 7])
def test_an_answer_that_is_not_there_stands_for_nothing(shown: int) -> None:
    results = [result("a", model=model, nodeid=model) for model in "mn"]
    accounts = {each.nodeid: Account(each.nodeid, (AccountAnswer(True, ()),), shown=shown) for each in results}
    assert len(json.loads(data_of(report(*results, accounts=accounts)))["rows"]) == 2


def test_two_models_are_a_pair_with_the_test_in_words() -> None:
    results = [result("a", "passed", model="m", nodeid="m"), result("a", "failed", model="n", nodeid="n")]
    pairs = json.loads(data_of(report(*results, models_compared=compare_models(results, 8))))["pairs"]
    assert [pair["models"] for pair in pairs] == [[0, 1]]
    assert pairs[0]["words"][0][1] == "Chance may explain the difference."
    assert pairs[0]["words"][0][2].startswith("1 case, 100.0 % → 0.0 % right")
