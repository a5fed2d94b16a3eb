"""`fcall tools lint`: what makes tools hard to choose and to fill in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.cli import main

TOOLS = """\
tools:
  - name: search_orders
    description: Search the orders of a customer.
    parameters:
      type: object
      properties:
        since: {type: string, description: The first day as YYYY-MM-DD.}
        x: {type: string}
        level: {type: string, description: "One of 'low', 'high'."}
  - {name: list_orders, description: List the orders of a customer.}
"""
CASES = """\
include: shop.tools.yaml
cases:
  - {id: all, prompt: What did they order?, expect: [list_orders: {}]}
  - {id: since, prompt: And since May?, expect: [search_orders: {since: 2026-05-01}]}
  - {id: none, prompt: Thanks!, expect: no_call, tools: {only: [list_orders]}}
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "shop.tools.yaml").write_text(TOOLS)
    (tmp_path / "shop.fc.yaml").write_text(CASES)
    return tmp_path


@pytest.mark.usefixtures("shop")
def test_each_finding_names_file_tool_argument_and_rule_and_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "lint", "shop.tools.yaml"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "shop.tools.yaml: search_orders.since: may be any string; the description says YYYY-MM-DD (format-in-words)",
        "  hint: write `format: date`",
        "shop.tools.yaml: search_orders.x: has no description, and its name says nothing (unexplained)",
        "  hint: describe what to give, with an example",
        "shop.tools.yaml: search_orders: shares 2 of 3 words with `list_orders`: customer, order (alike)",
        "  hint: only `search_orders` says search; only `list_orders` says list: say in both when to use this one and "
        "not the other",
        "2 tools: 3 findings",
    ]


@pytest.mark.usefixtures("shop")
def test_rules_without_a_measured_effect_are_checked_on_demand_and_know_the_cases(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["tools", "lint", "--all", "--format=json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["tools"] == 2
    assert [(each["rule"], each["argument"], each["effect"]) for each in found["findings"]] == [
        ("format-in-words", "since", "measured"),
        ("unexplained", "x", "unmeasured"),
        ("unused", "x", "unmeasured"),
        ("choices-in-words", "level", "none"),
        ("alike", "", "measured"),
    ]


@pytest.mark.usefixtures("shop")
def test_rules_are_chosen_and_silenced_for_all_tools_or_for_some(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "lint", "--only=alike", "--without=alike:list_*"]) == 0
    assert main(["tools", "lint", "--without=alike", "--without=unexplained", "--without=format-in-words:x"]) == 1
    assert main(["tools", "lint", "--only=no-type"]) == 0
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "  hint: write `format: date`",
        "2 tools: 1 finding",
        "2 tools: nothing found",
    ]


@pytest.mark.usefixtures("shop")
def test_an_unknown_rule_is_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "lint", "--without=alik"]) == 2
    assert "no rule is called 'alik'; did you mean `alike`?" in capsys.readouterr().err


def test_tools_of_a_json_file_are_linted_and_what_cannot_be_read_is_told(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "server.json").write_text('{"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}')
    (shop / "broken.json").write_text('{"tools": [')
    assert main(["tools", "lint", "server.json", "broken.json"]) == 1
    said = capsys.readouterr()
    assert "server.json: go: has no description (no-description)" in said.out
    assert "broken.json" in said.err


def test_a_run_over_no_tools_is_not_green(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "empty.fc.yaml").write_text("cases:\n  - {id: none, prompt: Hello, expect: no_call}\n")
    assert main(["tools", "lint", "empty.fc.yaml"]) == 1
    assert "nothing was checked" in capsys.readouterr().err
