from __future__ import annotations

import base64
import json
import re
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.reporting.history import HistoryChange, KeptRun, RunHistory
from pytest_fcall.reporting.reports.history.page import data_of, write
from pytest_fcall.reporting.results import Result
from tests.unit.reporting.reports.examples import HOSTILE, RESULTS, result, texts
from tests.unit.reporting.reports.test_page import Elements


def kept(day: int, *results: Result, **fields: object) -> KeptRun:
    return KeptRun(f"202611{day:02}-090000-aaaa", f"2026-11-{day:02}T09:00:00+00:00", results, **fields)  # type: ignore[arg-type]


def page(*runs: KeptRun, **fields: object) -> str:
    return "".join(write(RunHistory(runs, **fields)))  # type: ignore[arg-type]


def text_of(*runs: KeptRun, **fields: object) -> str:
    return " ".join(" ".join(Elements(page(*runs, **fields)).text).split())


@st.composite
def histories(draw: st.DrawFn) -> RunHistory:
    """Runs that hold anything anywhere."""
    sides = st.sampled_from(["prompt", "tools", "model", "engine", "cases"])
    runs = [
        KeptRun(
            draw(texts),
            draw(texts),
            draw(RESULTS),
            draw(texts),
            asked=draw(st.booleans()),
            changes=[HistoryChange(draw(sides), draw(texts), 3) for _ in range(draw(st.integers(0, 3)))],
            provenance={"commit": draw(texts), draw(texts): draw(texts)},
            path=draw(texts),
        )
        for _ in range(draw(st.integers(1, 3)))
    ]
    return RunHistory(runs, draw(st.booleans()), [draw(texts)])


@given(histories())
def test_a_page_has_its_own_elements_and_no_others(history: RunHistory) -> None:
    text = "".join(write(history))
    assert text.encode("utf-8", "strict")
    found = Elements(text)
    assert found.names.count("script") == 2
    assert not {"img", "iframe", "link", "object", "embed"} & {*found.names}
    assert not [name for name, _ in found.attributes if name.startswith("on") or name == "style"]
    assert all(value.startswith("#") for name, value in found.attributes if name == "href")


def test_the_newest_run_stands_first_and_says_what_changed_since_the_run_before() -> None:
    text = text_of(
        kept(1, result("a", "passed"), result("b", "failed")),
        kept(2, result("a", "failed", reasons=(("no_call", ""),)), result("b", "passed"), result("c", "failed")),
        kept(3, result("a", "error")),
    )
    assert text.index("2026-11-03 09:00 m") < text.index("2026-11-02 09:00 m")
    assert "1 right before, wrong now a (m): no_call 1 wrong before, right now b (m)" in text
    assert "1 judged before, an error now a (m)" in text


def test_a_case_is_compared_with_the_last_run_that_had_it() -> None:
    text = text_of(kept(1, result("a", "passed")), kept(2, result("b", "passed")), kept(3, result("a", "failed")))
    assert "1 right before, wrong now a (m)" in text


def test_what_changed_in_the_question_is_told_with_its_letter() -> None:
    changes = [HistoryChange("prompt", "the system prompt changed", 12), HistoryChange("cases", "the case is new", 1)]
    text = text_of(kept(1, result("a", "passed")), kept(2, result("a", "passed"), changes=changes))
    assert "PC" in text
    assert "system prompt : the system prompt changed (12 cases)" in text
    assert "case files : the case is new (1 case)" in text


def test_accuracy_cost_and_time_of_each_model_have_a_line_with_an_interval() -> None:
    runs = [
        kept(day, *(result(f"c{n}", "passed", model=m, cost=0.01 * n, seconds=1.0 + n) for n in range(8) for m in "mn"))
        for day in (1, 2)
    ]
    found = page(*runs)
    assert found.count('<svg class="lines"') == 3
    assert found.count('class="band series-0"') == found.count('class="band series-1"') == 3
    assert "median from 11-01 to 11-02: m 4.00 s [1.00 s, 8.00 s], 8 cases; n 4.00 s" in found


def test_categories_have_lines_of_their_own_on_demand() -> None:
    run = kept(1, result("a", "passed", category="simple"), result("b", "failed", category="parallel"))
    assert "m, parallel" not in text_of(run)
    assert "m, parallel" in text_of(run, by_category=True)


def test_a_run_without_a_cost_has_no_chart_of_costs() -> None:
    assert "US dollars" not in page(kept(1, result("a", "passed", seconds=1.0)))


def test_what_could_not_be_read_is_told() -> None:
    assert "Not in this history x.json: not a run file" in text_of(
        kept(1, result("a", "passed")), remarks=["x.json: not a run file"]
    )


def test_a_run_leads_to_the_report_beside_it() -> None:
    assert '<a href="ci/run%201.html">report of this run</a>' in page(
        kept(1, result("a", "passed"), report="ci/run%201.html")
    )


def test_the_address_of_a_run_is_the_same_on_later_pages_whatever_its_id() -> None:
    first, hostile = kept(1, result("a", "passed")), KeptRun(HOSTILE, "2026", [result("a", "passed")])
    assert 'href="#run-20261101-090000-aaaa"' in page(first)
    anchors = [
        {*re.findall(r'<article class="run" id="([\w-]+)"', page(*runs))} for runs in ([hostile, first], [hostile])
    ]
    assert len(anchors[0]) == 2
    assert anchors[1] < anchors[0]


def test_each_run_has_all_of_its_results_packed() -> None:
    runs = [
        kept(1, result("a", "passed", seconds=0.123456), result("b</script>", "error")),
        kept(2, result("a", "failed", reasons=(("no_call", ""), ("no_call", "x")), cost=0.5)),
    ]
    data = data_of(RunHistory(runs))
    assert "<" not in data
    found = json.loads(data)
    unpacked = [
        json.loads(zlib.decompress(base64.b64decode(each))) for each in (found["cases"], *found["runs"].values())
    ]
    assert unpacked == [
        [["a", "m", "cases/a.fc.yaml", "simple", 1], ["b</script>", "m", "cases/b</script>.fc.yaml", "simple", 1]],
        [[0, "passed", "", "", "", 0.1235, None], [1, "error", "", "", "", None, None]],
        [[0, "failed", "passed", "", "no_call", None, 0.5]],
    ]


@pytest.mark.parametrize("figure", [1e308, -1e308, 5e-324, 0.0])
def test_a_figure_of_any_size_leaves_a_page(figure: float) -> None:
    results = [result(f"c{n}", "passed", cost=figure * (n % 2), seconds=figure) for n in range(6)]
    assert "History" in text_of(kept(1, *results), kept(2, *results))
