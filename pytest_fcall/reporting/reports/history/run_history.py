"""The runs that a page of history shows, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from pytest_fcall.core import Json
from pytest_fcall.reporting.results import Result, Status

CaseKey: TypeAlias = tuple[str, str, str]
"""The path of a case file from the root, a model and a case."""


class Change(NamedTuple):
    """A change since earlier runs in the questions, or in what answered."""

    side: str
    """Its subject: `prompt`, `tools`, `model`, `engine` or `cases`."""
    text: str
    cases: int
    """The number of cases that it concerns."""


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run in the history."""

    id: str
    started: str
    """The time in UTC, as ISO 8601."""
    results: Sequence[Result]
    origin: str = ""
    """The numbers of answers that were asked for and replayed, in words."""
    asked: bool = True
    """Whether any answer was asked for."""
    changes: Sequence[Change] = ()
    provenance: Mapping[str, Json] = field(default_factory=dict)
    path: str = ""
    """The file of the run."""
    report: str = ""
    """The address of a page about the run, from that of the history; empty where there is none."""


@dataclass(frozen=True, slots=True)
class RunHistory:
    """Kept runs, oldest first, and what is not among them."""

    runs: Sequence[KeptRun]
    by_category: bool = False
    """Whether categories have figures of their own."""
    remarks: Sequence[str] = ()
    """Which files could not be read, and which runs are left out, in sentences."""

    def with_earlier(self) -> Iterator[tuple[KeptRun, Mapping[CaseKey, Status]]]:
        """Each run, and how its cases ended in the last run before that had them."""
        known: dict[CaseKey, Status] = {}
        for run in self.runs:
            yield run, {key: known[key] for each in run.results if (key := key_of(each)) in known}
            known |= {key_of(each): each.status for each in run.results}


def key_of(result: Result) -> CaseKey:
    """The name of a case of a model in all runs."""
    return result.file, result.model, result.case
