"""`fcall score --format mannheim`: logged runs of the Mannheim function calling benchmark."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, Final

from pytest_fcall.cli.score.rows import GroupSums, RowJudge, RowVerdict, object_field
from pytest_fcall.core.extension import Table
from pytest_fcall.core.values import Json
from pytest_fcall.suites.mannheim.errors import error_classes
from pytest_fcall.suites.mannheim.score import MannheimScore, row_calls, row_paths, score_row
from pytest_fcall.suites.mannheim.tables import PHASES, SCORES, accuracies_of, category_name, phase_name, tables

_TABLE: Final = re.compile(r"(?:table|t)?\s*([0-9])\b.*", re.IGNORECASE)


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this format."""
    parser.add_argument(
        "--totals", action="store_true", help="print the tables of the publication at the end, with its figures"
    )

    parser.add_argument(
        "--errors",
        action="store_true",
        help="name the likely classes of errors of the publication; better where rows have a question",
    )


def judge_of(_: ArgumentParser, options: Namespace) -> MannheimRowJudge:
    """The judge of the command line."""
    return MannheimRowJudge(options.totals, options.errors)


@dataclass(frozen=True, slots=True)
class MannheimRowJudge(RowJudge):
    """Judges rows by what they hold."""

    row_fields: ClassVar = ("case",)

    totals: bool = False
    errors: bool = False

    def judge(self, row: Mapping[str, Json]) -> RowVerdict:
        """Grade the calls and the answer in `row`."""
        score = score_row(row)
        added = score.accuracies()
        sums = GroupSums(_group(row), tuple(chain.from_iterable(added[name] for name in SCORES)))
        verdict = {"case": row.get("case"), **score.as_row(), **(_errors(row, score) if self.errors else {})}
        return RowVerdict(verdict, group_sums=[sums] if self.totals else ())

    def tables(self, sums: Mapping[tuple[str, ...], Sequence[float]]) -> Iterable[Table]:
        """The tables of the publication for the rows that say which they are of, and one of all others."""
        return tables(accuracies_of({(phase, category): numbers for (phase, category), numbers in sums.items()}))


def _errors(row: Mapping[str, Json], score: MannheimScore) -> Mapping[str, Json]:
    """The classes of errors of a row that `score` was made of."""
    question, answer = (str(row.get(name) or "") for name in ("question", "answer"))
    right = object_field(object_field(row, "expected"), "answer")
    return {"errors": [*error_classes(question, row_calls(row), row_paths(row), score, answer, right)]}


def _group(row: Mapping[str, Json]) -> tuple[str, str]:
    """The phase and the category of a row."""
    part, table, category = (row.get(name) for name in ("part", "table", "category"))
    phase = phase_name(part) if isinstance(part, str) else _phase_of_table(str(table))
    named = category if isinstance(category, str) else ""
    return phase or "all", category_name(named) or "other"


def _phase_of_table(text: str) -> str:
    """The phase of the publication's table with the number at the beginning of a text, as in `T4 single`."""
    found = _TABLE.fullmatch(text.strip())
    return next((name for name, phase in PHASES.items() if found and phase.number == int(found[1])), "")
