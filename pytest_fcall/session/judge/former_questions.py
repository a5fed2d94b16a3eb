"""System prompts and tools of earlier runs, from the accounts that are kept of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Final

from pytest_fcall.core import Json, Request
from pytest_fcall.core.json_fields import DamagedData
from pytest_fcall.reporting.account import account_from_json
from pytest_fcall.tracking.question_digests import SYSTEM, TOOL_PREFIX, question_digests, system_prompt
from pytest_fcall.tracking.run_accounts import accounts_path, read_account_lines, tool_of_line
from pytest_fcall.tracking.run_file import run_paths

_MOST_READ: Final = 50_000
"""Accounts that are read for it at most: what is read in about a second."""


class FormerQuestions:
    """Finds parts of questions by their digests, in the newest run first. No account is read twice."""

    def __init__(self, root: Path) -> None:
        self._known: dict[tuple[str, str], Json] = {}
        self._unread = _parts(root)

    def system_prompt(self, digest: str) -> str | None:
        """The text of the system prompt; None where no run that is kept has it."""
        found = self._find((SYSTEM, digest))
        return found if isinstance(found, str) else None

    def tool(self, name: str, digest: str) -> Mapping[str, Json] | None:
        """The description and the parameters of the tool; None where no run that is kept has it."""
        found = self._find((TOOL_PREFIX + name, digest))
        return found if isinstance(found, Mapping) else None

    def _find(self, part: tuple[str, str]) -> Json:
        while part not in self._known and (found := next(self._unread, None)):
            self._known.update([found])
        return self._known.get(part)


def _parts(root: Path) -> Iterator[tuple[tuple[str, str], Json]]:
    """Each system prompt and each tool of the runs, by its name and digest."""
    seen: set[str] = set()
    lines = chain.from_iterable(read_account_lines(accounts_path(path)) for path in reversed(run_paths(root)))
    for data in islice(lines, _MOST_READ):
        if tool := tool_of_line(data):
            definition: Json = {"description": tool.description, "parameters": tool.parameters}
            yield (TOOL_PREFIX + tool.name, tool.digest), definition
            continue
        request = _request(data)
        text = system_prompt(request)
        if text and text not in seen:
            seen.add(text)
            with suppress(ValueError):  # a damaged account may hold what is no JSON, such as NaN
                yield (SYSTEM, question_digests(request)[SYSTEM]), text


def _request(data: Mapping[str, Json]) -> Request:
    """The messages with which a case began; none where there is no knowing."""
    with suppress(DamagedData, IndexError):
        return Request(account_from_json(data).answers[0].steps[0].messages)
    return Request(())
