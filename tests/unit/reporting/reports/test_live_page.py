from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.reporting.number_text import duration_text
from pytest_fcall.reporting.reports.live.page import LiveWriter, Requests, RunProgress
from tests.unit.reporting.reports.examples import HOSTILE, RESULTS, result, texts
from tests.unit.reporting.reports.test_page import Elements

NOON = 1_800_014_400.0  # 2027-01-15, 12:00 UTC


def state(**fields: object) -> RunProgress:
    known: dict[str, object] = {"written": NOON, "seconds": 60.0, "done": 5, "total": 20}
    return RunProgress(**known | fields)  # type: ignore[arg-type]


def page(of: RunProgress) -> str:
    return "".join(LiveWriter(3.0).write(of))


def text(of: RunProgress) -> str:
    return " ".join(" ".join(Elements(page(of)).text).split())


def test_it_says_how_far_the_run_is_and_when_it_was_written() -> None:
    shown = text(state())
    assert "running: 25 % 5 of 20 tests ended" in shown
    assert "1 min 00 s, about 3 min 00 s to go: until 2027-01-15 12:03:00 UTC" in shown
    assert "written 2027-01-15 12:00:00 UTC" in shown


def test_cost_so_far_is_what_the_run_has_spent_with_a_projection() -> None:
    paid = [result(f"c{n}", "passed", cost=0.5, asked=1) for n in range(4)]
    stored = result("c4", "passed", cost=7.0, replayed=True)
    assert "$2.00, about $8.00 in the end" in text(state(results=[*paid, stored]))


def test_what_is_in_flight_and_what_went_wrong_is_counted_by_kind() -> None:
    wrong = [result(f"c{n}", reasons=(("wrong_value", "a"), ("wrong_value", "b"))) for n in range(3)]
    shown = text(
        state(
            results=[*wrong, result("d", "error")],
            requests=Requests(61, 1823, 4, 12),
            running=[("cases/a.fc.yaml::slow", 75.0)],
            errors={"HTTP 500": 2, "HTTP 429": 31},
        )
    )
    assert "0 right , 3 wrong , 1 error , 0 skipped" in shown
    assert "61 in flight, 1,823 answered, 4 failed, 12 asked again" in shown
    assert "31 HTTP 429 2 HTTP 500" in shown
    assert "Wrong answers 3 wrong_value" in shown
    assert "1 min 15 s cases/a.fc.yaml::slow" in shown


def test_of_many_kinds_the_rest_is_counted() -> None:
    assert "1 error 9 5 others" in text(state(errors={f"error {n}": 1 for n in range(15)}))


def test_it_loads_itself_until_the_run_has_ended() -> None:
    running, ended = page(state()), page(state(ended=True))
    assert '<noscript><meta http-equiv="refresh" content="3; url=?"></noscript>' in running
    assert "refresh" not in re.sub(r"<script.*", "", ended, flags=re.DOTALL)
    assert 'id="pause"' not in ended
    assert "about" not in text(state(ended=True))


@pytest.mark.parametrize("fields", [{"done": 0}, {"total": None}, {"done": 30}, {"seconds": 0.0}])
def test_nothing_is_projected_from_nothing(fields: dict[str, object]) -> None:
    assert "running: " in text(state(**fields))


@given(RESULTS, st.dictionaries(texts, st.integers(1, 9), max_size=3), st.lists(st.tuples(texts, st.floats(0, 9))))
def test_a_page_has_its_own_elements_and_no_others(results: object, errors: object, running: object) -> None:
    written = page(state(results=results, errors=errors, running=running))
    assert written.encode("utf-8", "strict")
    found = Elements(written)
    assert found.names.count("script") == 1
    assert not {"img", "iframe", "link", "object", "embed"} & {*found.names}
    assert not [name for name, _ in found.attributes if name.startswith("on") or name == "style"]


def test_text_from_outside_is_shown_as_text() -> None:
    shown = text(state(errors={HOSTILE: 1}, running=[(HOSTILE, 1.0)], results=[result(model=HOSTILE)]))
    assert shown.count("<script>alert(1)</script>") == 3


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (-1, "0 s"),
        (59.4, "59 s"),
        (60, "1 min 00 s"),
        (3599, "59 min 59 s"),
        (7500, "2 h 05 min"),
        (1e6, "277 h 46 min"),
    ],
)
def test_durations_are_told_in_two_units(seconds: float, told: str) -> None:
    assert duration_text(seconds) == told
