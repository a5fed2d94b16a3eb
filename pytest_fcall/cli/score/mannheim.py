"""`fcall score --format mannheim`: logged runs of the Mannheim function calling benchmark."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pytest_fcall.cli.score.rows import RowJudge, RowVerdict, object_field
from pytest_fcall.core.values import Json
from pytest_fcall.suites.mannheim.score import score_row


def add_options(_: ArgumentParser) -> None:
    """Add nothing: the rows hold all that is needed."""


def judge_of(_: ArgumentParser, __: Namespace) -> MannheimJudge:
    """The judge of the command line."""
    return MannheimJudge()


@dataclass(frozen=True, slots=True)
class MannheimJudge(RowJudge):
    """Judges rows by what they hold."""

    row_fields: ClassVar = ("case",)

    def judge(self, row: Mapping[str, Json]) -> RowVerdict:
        """Grade the calls and the answer in `row`."""
        return RowVerdict({"case": row.get("case"), **score_row(row).as_row()})

    def recorded_verdict(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        """The grades in `result`."""
        return object_field(row, "result")
