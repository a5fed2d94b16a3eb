"""The accounts beside a run file: what was asked and answered in each case, and the tools that cases offered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from pytest_fcall.core import Tool
from pytest_fcall.core.json_data import DamagedData, as_mapping, read_json
from pytest_fcall.reporting.account import Account, account_from_json
from pytest_fcall.tracking.run_accounts import accounts_path, read_account_texts, tool_of_line, tool_set_of_line


class KeptAccounts(Mapping[str, Account]):
    """The accounts by node id. The file is read when the first is asked for, and each account when it is."""

    def __init__(self, run: Path) -> None:
        self._path = accounts_path(run)

    @cached_property
    def _lines(self) -> tuple[dict[str, bytes], dict[str, Sequence[Tool]]]:
        accounts, tools, sets = dict[str, bytes](), dict[tuple[str, str], Tool](), []
        for text, line in read_account_texts(self._path):
            if isinstance(nodeid := line.get("nodeid"), str):
                accounts[nodeid] = text  # of a case that was run again the last one counts
            elif tool := tool_of_line(line):
                tools[tool.name, tool.digest] = Tool(tool.name, tool.description, tool.parameters)
            elif found := tool_set_of_line(line):
                sets.append(found)
        return accounts, {name: [tools[each] for each in own if each in tools] for name, own in sets}

    @property
    def offered(self) -> Mapping[str, Sequence[Tool]]:
        """The sets of tools by their names, which accounts refer to."""
        return self._lines[1]

    def __getitem__(self, nodeid: str) -> Account:
        try:
            return account_from_json(as_mapping(read_json(self._lines[0][nodeid]), "an account"))
        except DamagedData as error:
            return Account(nodeid, error=f"what was asked and answered cannot be read: {error}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines[0])

    def __len__(self) -> int:
        return len(self._lines[0])


class OfferedTools(Mapping[str, Sequence[Tool]]):
    """The sets of tools of accounts, by name, which are read when the first is asked for."""

    def __init__(self, accounts: KeptAccounts) -> None:
        self._accounts = accounts

    def __getitem__(self, name: str) -> Sequence[Tool]:
        return self._accounts.offered[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._accounts.offered)

    def __len__(self) -> int:
        return len(self._accounts.offered)
