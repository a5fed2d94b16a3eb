"""System prompts of earlier runs, from the accounts that are kept of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Final

from pytest_fcall.core import Json, Request
from pytest_fcall.core.json_fields import DamagedData
from pytest_fcall.reporting.account import account_from_json
from pytest_fcall.tracking.question_digests import SYSTEM, question_digests, system_prompt
from pytest_fcall.tracking.run_accounts import accounts_path, read_accounts
from pytest_fcall.tracking.run_file import run_paths

_MOST_READ: Final = 50_000
"""Accounts that are read for it at most: what is read in about a second."""


class FormerPrompts:
    """Finds system prompts by their digests, in the newest run first. No account is read twice."""

    def __init__(self, root: Path) -> None:
        self._known: dict[str, str] = {}
        self._unread = _system_prompts(root)

    def find(self, digest: str) -> str | None:
        """The text of the system prompt; None where no run that is kept has it."""
        while digest not in self._known and (found := next(self._unread, None)):
            self._known.update([found])
        return self._known.get(digest)


def _system_prompts(root: Path) -> Iterator[tuple[str, str]]:
    """Each system prompt of the runs with its digest."""
    seen: set[str] = set()
    accounts = chain.from_iterable(read_accounts(accounts_path(path)) for path in reversed(run_paths(root)))
    for _, data in islice(accounts, _MOST_READ):
        request = _request(data)
        text = system_prompt(request)
        if text and text not in seen:
            seen.add(text)
            with suppress(ValueError):  # a damaged account may hold what is no JSON, such as NaN
                yield question_digests(request)[SYSTEM], text


def _request(data: Mapping[str, Json]) -> Request:
    """The messages with which a case began; none where there is no knowing."""
    with suppress(DamagedData, IndexError):
        return Request(account_from_json(data).answers[0].steps[0].messages)
    return Request(())
