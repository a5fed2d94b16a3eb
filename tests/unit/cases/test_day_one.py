"""A file of everything at once: what a team writes on its first day loads, and means what it says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import CaseFileContent, read_case_file
from pytest_fcall.core import Case, Condition, ConversationSettings, Expectation, Operator, Pattern, StubResult
from tests.unit.cases.day_one import write_day_one


@pytest.fixture
def day_one(tmp_path: Path) -> CaseFileContent:
    return read_case_file(write_day_one(tmp_path), root=tmp_path)


@pytest.fixture
def cases(day_one: CaseFileContent) -> dict[str, Case]:
    return {entry.id: entry for entry in day_one.entries if isinstance(entry, Case)}


def test_all_of_it_loads_without_a_fault(day_one: CaseFileContent, cases: dict[str, Case]) -> None:
    assert day_one.faults == ()
    assert list(cases) == [
        "two_orders_any_provider",
        "meeting_tomorrow",
        "kb_search",
        "unpaid_invoices",
        "cabin[eco]",
        "cabin[prem]",
        "refund_last_order",
        "jira_not_wiki",
        "no_cancel_tool",
        "charge_retry",
        "cleanup_asks_first",
        "weather_langs[de]",
        "weather_langs[ja]",
        "receipt_after_80_turns",
    ]


def test_it_means_what_its_comments_say(cases: dict[str, Case]) -> None:
    orders = cases["two_orders_any_provider"]
    assert orders.xfail == (Condition("parser drops the second call", ("local:*",)),)
    assert orders.conversation == ConversationSettings(stubs={"get_order": {"state": "shipped"}})
    assert _expect(orders).parallel == "free"
    meeting = cases["meeting_tomorrow"]
    assert meeting.turns[0].messages[0]["content"] == "Today is Saturday 21 November 2026, -0800."
    assert _arguments(cases["unpaid_invoices"])["country"] == "NO"
    assert _arguments(cases["cabin[prem]"]) == {"flight": "F7", "cabin": "PREMIUM_ECONOMY"}
    assert _expect(cases["jira_not_wiki"]).never[0].tool == "wiki__search"
    assert "wiki__drop" not in [tool.name for tool in orders.tools]
    assert "cancel_order" not in [tool.name for tool in cases["no_cancel_tool"].tools]
    assert _expect(cases["no_cancel_tool"]).kind == "no_call"
    assert cases["weather_langs[ja]"].turns[0].messages[-1]["content"] == "ミュンヘンの天気は？"
    assert len(cases["receipt_after_80_turns"].turns[0].messages) == 81
    assert [rule.tool for rule in orders.rules.never] == ["delete_*", "transfer"]


def test_calls_that_come_later_speak_of_earlier_ones(cases: dict[str, Case]) -> None:
    first, then = _expect(cases["charge_retry"]).stages
    assert first[0].stub == StubResult(raises="503 try again")
    assert then[0].arguments == {"invoice": 77, "idempotency_key": Operator("from", "first.args.idempotency_key")}
    assert then[0].times == (1, 2)
    assert cases["refund_last_order"].mode == "conversation"


def _expect(case: Case) -> Expectation:
    expect = case.turns[0].expect
    assert expect is not None
    return expect


def _arguments(case: Case) -> Mapping[str, Pattern]:
    arguments = _expect(case).stages[0][0].arguments
    assert arguments is not None
    return arguments
