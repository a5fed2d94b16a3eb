"""System prompts, prompts and tools of earlier runs, from the accounts that are kept of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Final

from pytest_fcall.core.json_data import DamagedData
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.account import account_from_json
from pytest_fcall.tracking.question_digests import (
    PROMPT,
    SYSTEM,
    TOOL_PREFIX,
    prompt_text,
    question_digests,
    system_prompt,
)
from pytest_fcall.tracking.run_accounts import accounts_path, read_account_lines, tool_of_line
from pytest_fcall.tracking.run_file import run_paths

_MOST_READ: Final = 50_000
"""The most accounts that are read: those take about a second."""
_LONGEST_PROMPT: Final = 2_000
"""Longer prompts are not kept in memory: each case may have its own."""


class FormerQuestions:
    """Finds parts of questions by their digests, in the newest run first. No account is read twice."""

    def __init__(self, root: Path) -> None:
        self._known: dict[tuple[str, str], Json] = {}
        self._unread = _parts(root)

    def find(self, part: str, digest: str) -> Json:
        """The part of a question; None where no run that is kept has it.

        The system prompt and the prompt are texts, and a tool is a mapping with its description and its parameters.
        """
        while (part, digest) not in self._known and (found := next(self._unread, None)):
            self._known.update([found])
        return self._known.get((part, digest))


def _parts(root: Path) -> Iterator[tuple[tuple[str, str], Json]]:
    """The system prompts, prompts and tools of the runs, each by its name and digest."""
    seen: set[str] = set()
    lines = chain.from_iterable(read_account_lines(accounts_path(path)) for path in reversed(run_paths(root)))
    for data in islice(lines, _MOST_READ):
        if tool := tool_of_line(data):
            definition: Json = {"description": tool.description, "parameters": tool.parameters}
            yield (TOOL_PREFIX + tool.name, tool.digest), definition
            continue
        request = _request(data)
        prompt = prompt_text(request)
        texts = {SYSTEM: system_prompt(request), PROMPT: prompt if len(prompt) <= _LONGEST_PROMPT else ""}
        if new := {part: text for part, text in texts.items() if text and text not in seen}:
            seen.update(new.values())
            with suppress(ValueError):  # a damaged account may hold what is no JSON, such as NaN
                digests = question_digests(request)
                yield from (((part, digests[part]), text) for part, text in new.items())


def _request(data: Mapping[str, Json]) -> Request:
    """The messages with which a case began; none where its account is damaged."""
    with suppress(DamagedData, IndexError):
        return Request(account_from_json(data).answers[0].steps[0].messages)
    return Request(())
