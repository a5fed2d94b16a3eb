from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Usage
from pytest_fcall.reporting.dry_run import PlannedRequest, dry_run_line, dry_run_lines
from pytest_fcall.reporting.terminal import column_count

OSLO = PlannedRequest("openai:gpt-5.2", "cases/weather.fc.yaml", "oslo", Usage(200, 100), 0.0017)
ROME = PlannedRequest("openai:gpt-5.2", "cases/weather.fc.yaml", "rome", Usage(220, 100), 0.0018)
REFUND = PlannedRequest("openai:gpt-5.2", "cases/shop.fc.yaml", "refund", Usage(1400, 100), 0.0038)
OWN = PlannedRequest("openai:own", "cases/shop.fc.yaml", "refund", Usage(1400, 100))
KEPT = PlannedRequest("openai:gpt-5.2", "cases/shop.fc.yaml", "hello", Usage(50, 100), 0.001, recorded=True)


def test_what_would_be_asked_is_listed_by_model_and_file() -> None:
    assert dry_run_lines([OSLO, REFUND, ROME, KEPT, OWN]) == [
        "would be sent            requests  input  output     cost",
        "openai:gpt-5.2                  3  1,820     300  $0.0073",
        "  cases/weather.fc.yaml         2    420     200  $0.0035",
        "    oslo                        1    200     100  $0.0017",
        "    rome                        1    220     100  $0.0018",
        "  cases/shop.fc.yaml            1  1,400     100  $0.0038",
        "    refund                      1  1,400     100  $0.0038",
        "openai:own                      1  1,400     100",
        "  cases/shop.fc.yaml            1  1,400     100",
        "    refund                      1  1,400     100",
        "fcall: 4 requests would be sent, about 3,220 tokens in and 400 out, about $0.0073+, "
        "1 answered by recordings; nothing was sent",
    ]


def test_the_page_on_costs_shows_the_same() -> None:
    page = Path(__file__).parents[3] / "docs/how-to/costs.md"
    assert "\n".join(dry_run_lines([OSLO, REFUND, ROME, KEPT, OWN])) in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("plan", "line"),
    [
        ([], "fcall: 0 requests would be sent; nothing was sent"),
        ([KEPT], "fcall: 0 requests would be sent, 1 answered by recordings; nothing was sent"),
        ([OWN], "fcall: 1 request would be sent, about 1,400 tokens in and 100 out, cost unknown; nothing was sent"),
    ],
)
def test_without_a_price_or_a_request_one_line_says_so(plan: list[PlannedRequest], line: str) -> None:
    assert dry_run_line(plan) == line
    assert dry_run_lines(plan)[-1] == line


def test_a_conversation_may_take_more_than_its_first_request() -> None:
    begun = PlannedRequest("openai:exam", "a.fc.yaml", "one", Usage(10, 5), begins=True)
    assert "1 request would be sent, about 10 tokens in and 5 out" in dry_run_line([begun])
    assert "and more for 1 conversation of several steps; nothing was sent" in dry_run_line([begun])


def test_recordings_alone_need_no_table() -> None:
    assert len(dry_run_lines([KEPT])) == 1


HOSTILE = st.text(st.characters(exclude_categories=[]), max_size=20)


@given(
    st.lists(st.builds(PlannedRequest, HOSTILE, HOSTILE, HOSTILE, st.just(Usage(1, 1)), st.none()), max_size=8),
    st.integers(60, 200),
)
def test_hostile_names_leave_no_control_characters(plan: list[PlannedRequest], width: int) -> None:
    *lines, last = dry_run_lines(plan, width)
    assert all(line.isprintable() and column_count(line) <= width for line in lines)
    assert last.isprintable()
