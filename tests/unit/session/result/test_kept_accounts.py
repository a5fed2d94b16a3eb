from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.core import Json, Tool
from pytest_fcall.session.result.run_report import KeptAccounts, KeptToolSets
from pytest_fcall.tracking.run_accounts import AccountWriter, ToolSetWriter, account_line, accounts_path

FIND = Tool("find", "Finds.", {"type": "object"})


def keep(folder: Path, *lines: str) -> KeptAccounts:
    run = folder / "20260101-000001-aaaa.json"
    writer = AccountWriter(accounts_path(run))
    for line in lines:
        writer.add(line)
    writer.close()
    return KeptAccounts(run)


def test_tools_are_found_by_the_name_of_their_set(tmp_path: Path) -> None:
    name, lines = ToolSetWriter().name((FIND,))
    accounts = keep(tmp_path, "\n".join(lines), account_line({"nodeid": "a", "answers": [], "offered": name}))

    assert KeptToolSets(accounts)[accounts["a"].offered] == [FIND]
    assert (*KeptToolSets(accounts),) == (name,)


def test_a_run_without_accounts_has_none(tmp_path: Path) -> None:
    accounts = KeptAccounts(tmp_path / "20260101-000001-aaaa.json")
    assert (len(accounts), len(KeptToolSets(accounts))) == (0, 0)


@pytest.mark.parametrize(
    "damaged",
    [
        {"tool": {"name": "find"}},
        {"tool": {"name": ["find"], "digest": "0", "description": "", "parameters": {}}},
        {"tool": {"name": "find", "digest": "0", "description": "", "parameters": []}},
        {"offered": 5, "tools": []},
        {"offered": "0", "tools": 5},
        {"offered": "0", "tools": [["find", "0"], ["find"], [["find"], {}], 5]},
        {"nodeid": 5, "tool": 5},
    ],
)
def test_a_damaged_line_is_passed_over(tmp_path: Path, damaged: dict[str, Json]) -> None:
    accounts = keep(tmp_path, account_line(damaged), account_line({"nodeid": "a", "answers": []}))

    assert [*accounts] == ["a"]
    assert [tool for tools in KeptToolSets(accounts).values() for tool in tools] == []
