"""`fcall score --format bfcl`: answers to the cases of the Berkeley Function Calling Leaderboard."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from pytest_fcall.cli.score.rows import RowJudge, RowVerdict
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.answers import Source, as_answer_row, read_answer
from pytest_fcall.suites.bfcl.case_index import CaseIndex, conversation_score_row, is_conversation, verdict_row
from pytest_fcall.suites.bfcl.judge import score_answer
from pytest_fcall.suites.bfcl.profile_differences import profile_difference


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this format."""
    parser.add_argument(
        "--cases",
        required=True,
        type=Path,
        metavar="FILE",
        help="the cases with their ground truth, or the folder with the data of the leaderboard",
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=("auto", "raw", "decoded"),
        default="auto",
        help="judge the raw output of the model, or the decoded calls in the row (default: raw where a row has it)",
    )
    parser.add_argument("--differences", metavar="FILE", help="write the rows that the two profiles judge differently")


def judge_of(parser: ArgumentParser, options: Namespace) -> BfclJudge:
    """The judge of the command line. A file that cannot be read ends the program through `parser`."""
    judge = BfclJudge(options.cases, options.source)
    try:
        _case_index(judge.cases)
    except OSError as error:
        parser.error(f"cannot read {options.cases}: {error.strerror or error}")
    return judge


@dataclass(frozen=True, slots=True)
class BfclJudge(RowJudge):
    """Judges rows by the cases in a file, which each process reads for itself."""

    row_fields: ClassVar = ("category", "id")
    has_two_profiles: ClassVar = True

    cases: Path
    source: Source

    def judge(self, row: Mapping[str, Json]) -> RowVerdict:
        """Judge the answer in `row` by both profiles; conversations and executed calls have one rule."""
        index = _case_index(self.cases)
        row = as_answer_row(row)
        if is_conversation(row):
            return RowVerdict(conversation_score_row(row, index.conversation_judge(row)))
        if executed := index.executed_judge(row):
            return RowVerdict(verdict_row(row, executed.verdict(read_answer(row, self.source))))
        case = index.case(row)
        scored = score_answer(case, read_answer(row, self.source))
        verdict = {"category": row["category"], "id": case.case.id, **scored.as_row()}
        why = profile_difference(case, scored)
        return RowVerdict(verdict, None if why is None else (why, {"why": why, **verdict}))

    def recorded_verdict(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        """The official verdict."""
        return {key: row[key] for key in ("valid", "error_type") if key in row}

    def skip_reason(self, file: str) -> str:
        """The reason not to judge the rows of a file; empty where they are judged."""
        is_preparation = Path(file).name.partition(".")[0].endswith("_prereq_result")
        if is_preparation:
            return "conversations that fill a memory have no right answer, only the questions after them do"
        return ""


@lru_cache(maxsize=1)
def _case_index(path: Path) -> CaseIndex:
    return CaseIndex(path)
