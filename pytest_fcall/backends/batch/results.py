"""The results of a batch: each line is checked, and what each request still lacks has a reason."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from pytest_fcall.backends.batch.portion import Portion
from pytest_fcall.backends.batch.service import LIMITS, BatchService, ResultRow
from pytest_fcall.backends.http_answers import LONGEST_BODY, parse_body
from pytest_fcall.core.json_data import as_mapping

Keep: TypeAlias = Callable[[str, int, bytes], Awaitable[str | None]]
"""Keeps the answer to a request, by its digest, with its HTTP status: returns why it is no reply, else nothing."""

NOT_ASKED: Final = "no case asks this any more"
"""The value that Keep returns for a good answer that is not needed any more."""


@dataclass(slots=True)
class PortionResults:
    """The results of a portion."""

    answered: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    """The reasons why requests have no reply, by digest."""
    unasked: int = 0
    """Answers to requests that no case makes any more."""
    notes: list[str] = field(default_factory=list)
    """The faults of the file of results."""


async def take_results(portion: Portion, service: BatchService, path: Path, keep: Keep) -> PortionResults:
    """Keep all answers of a portion that has ended."""
    results = PortionResults()
    reader = _Reader(portion, results)
    for row in _rows(path, service, results.notes) if path.exists() else ():
        if reader.counts(row):
            await _take(row, keep, results)
    for number, digest in enumerate(portion.digests):
        if digest not in reader.seen:
            results.failed[digest] = _missing(portion, number)
    reader.note_strangers()
    return results


def ids_in(path: Path, service: BatchService, digests: Collection[str]) -> bool:
    """Whether there is a result of one of these requests."""
    wanted = frozenset(digests)
    return any(row.custom_id in wanted for row in _rows(path, service, []))


class _Reader:
    """Tells which lines count: the first answer to each request of the portion."""

    def __init__(self, portion: Portion, results: PortionResults) -> None:
        self._wanted = frozenset(portion.digests)
        self._results = results
        self._unknown = 0
        self._repeated = 0
        self.seen: set[str] = set()

    def counts(self, row: ResultRow) -> bool:
        """Whether this is the first result of a request of ours, or the first answer after a failure."""
        if row.custom_id not in self._wanted:
            self._unknown += 1
            return False
        is_first = row.custom_id not in self.seen
        self.seen.add(row.custom_id)
        if is_first or (row.custom_id in self._results.failed and row.status is not None):
            return True
        self._repeated += 1
        return False

    def note_strangers(self) -> None:
        """Tell of lines that did not count."""
        if self._unknown:
            self._results.notes.append(f"{_lines(self._unknown)} of requests that were not submitted")
        if self._repeated:
            self._results.notes.append(f"{_lines(self._repeated)} of requests that had a result before")


async def _take(row: ResultRow, keep: Keep, results: PortionResults) -> None:
    results.failed.pop(row.custom_id, None)
    if row.status is None:
        results.failed[row.custom_id] = row.reason
        return
    reason = await keep(row.custom_id, row.status, json.dumps(row.body).encode())
    if reason is None:
        results.answered += 1
    elif reason == NOT_ASKED:
        results.unasked += 1
    else:
        results.failed[row.custom_id] = reason


def _rows(path: Path, service: BatchService, notes: list[str]) -> Iterator[ResultRow]:
    """The results in a file. What cannot be read is noted."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_BODY):
            number += 1
            if not line.endswith(b"\n") and len(line) == LONGEST_BODY:
                while (line := file.readline(LONGEST_BODY)) and not line.endswith(b"\n"):
                    pass
                notes.append(f"line {number} of the results has more than {LONGEST_BODY:,} bytes")
                continue
            if not line.strip():
                continue
            try:
                row = as_mapping(parse_body(line), "the line")
                yield service.result(row)
            except ValueError as error:
                notes.append(f"line {number} of the results: {error}")


def _missing(portion: Portion, number: int) -> str:
    """The reason why a request has no result."""
    faults: Mapping[str, str] = portion.faults
    if fault := faults.get(str(number)):
        return f"the batch failed for this request: {fault}"
    match portion.outcome:
        case "failed":
            other = next(iter(faults.items()), None)
            if other is None:
                return "the batch failed, and the provider does not say why"
            where = f"line {int(other[0]) + 1}: " if other[0] != "-1" else ""
            return f"the batch failed: {where}{other[1]}"
        case "expired":
            return "the batch expired before this was answered"
        case "cancelled":
            return "the batch was cancelled before this was answered"
        case "gone":
            days = LIMITS[portion.interface].days
            return f"the results are gone: the provider keeps them for {days} days"
        case _:
            return "the results have no line for it"


def _lines(number: int) -> str:
    return f"{number:,} line{'s' if number != 1 else ''} of the results"
