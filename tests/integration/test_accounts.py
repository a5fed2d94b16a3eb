"""What is kept beside a run: what was expected, called and accepted, and the tools that were offered."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Call, Operator
from pytest_fcall.reporting.account import Account
from pytest_fcall.session.result.run_report import KeptAccounts
from pytest_fcall.tracking.run_accounts import accounts_path, read_account_lines
from pytest_fcall.tracking.run_file import run_paths
from tests.by_night import by_night
from tests.integration.conftest import Shop
from tests.integration.mind import WRONG, Mind


def kept(root: Path) -> KeptAccounts:
    """What is kept beside the last run."""
    return KeptAccounts(run_paths(root)[-1])


def only(accounts: KeptAccounts) -> Account:
    (account,) = accounts.values()
    return account


def test_an_account_has_what_was_expected_and_which_call_was_made_for_it(shop: Shop) -> None:
    shop.cases(
        """
        cases:
          - id: one
            prompt: '[{"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}]'
            expect: [{get_weather: {city: {$any: [Paris, Lyon]}, unit: celsius}}]
        """
    )
    shop.ask()

    account = only(kept(shop.pytester.path))

    (turn,) = account.expected
    assert turn.calls
    assert turn.calls.calls[0].arguments == {"city": Operator("any", ["Paris", "Lyon"]), "unit": "celsius"}
    assert [each.pairs for each in account.answers[0].turns] == [((0, 0),)]
    assert account.accepted is None


def test_an_account_has_the_accepted_calls_and_the_question_as_it_was_then(mind: Mind) -> None:
    mind.cases("one")
    path = mind.path / "cases" / "a.fc.yaml"
    cases = path.read_text("utf-8")
    path.write_text(f"defaults: {{system: You are a helpful clerk.}}\n{cases}", "utf-8")
    mind.run("--fc-accept")
    changed = cases.replace("Current weather", "The weather")
    path.write_text(f"defaults: {{system: You are a friendly clerk.}}\n{changed}", "utf-8")
    mind.says({"one": WRONG})
    mind.run("--fc-confirm=0")

    accepted = only(kept(mind.path)).accepted

    assert accepted
    assert accepted.valid
    assert accepted.calls == (Call("get_weather", {"city": "Oslo"}),)
    assert accepted.date
    assert accepted.system == "You are a helpful clerk."
    former: Any = accepted.tools["get_weather"]
    assert former["description"] == "Current weather of a city."
    assert list(former["parameters"]["properties"]) == ["city", "unit", "days"]


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_tools_that_cases_share_are_kept_once(mind: Mind, workers: str) -> None:
    mind.cases(*(f"c{number}" for number in range(8)))
    mind.run(workers)

    accounts = kept(mind.path)

    assert {account.offered for account in accounts.values()} == {*accounts.offered}
    ((tool,),) = accounts.offered.values()
    assert (tool.name, tool.description) == ("get_weather", "Current weather of a city.")
    assert tool.parameters["required"] == ["city"]
    lines = Counter(str(next(iter(line))) for line in read_account_lines(accounts_path(run_paths(mind.path)[-1])))
    assert lines["nodeid"] == 8
    assert lines["tool"] <= 2  # one of each worker


def test_tools_are_kept_of_a_test_that_is_run_again(mind: Mind) -> None:
    pytest.importorskip("pytest_rerunfailures")
    mind.cases("one")
    mind.says({"one": WRONG})
    mind.run("-p", "rerunfailures", "--reruns=1")

    accounts = kept(mind.path)

    assert only(accounts).offered in accounts.offered


def test_the_page_of_a_run_has_them(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    mind.says({"one": WRONG})
    mind.run("--fc-confirm=0", "--fc-report=page.html")

    page = (mind.path / "page.html").read_text("utf-8")

    assert '"run":"' in page
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert [pair["words"][0][1] for pair in data["pairs"]] == ["Chance may explain the difference."]


def test_an_account_of_an_edited_case_has_the_prompt_as_it_was(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    path = mind.path / "cases" / "a.fc.yaml"
    path.write_text(path.read_text("utf-8").replace("prompt: one", "prompt: another one"), "utf-8")
    mind.run()

    accepted = only(kept(mind.path)).accepted

    assert accepted
    assert accepted.prompt == "one"
