"""`fcall score --format bfcl`: answers to the cases of the Berkeley Function Calling Leaderboard."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pytest_fcall.cli.score.rows import RowVerdict
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.suites.bfcl.answers import Source
    from pytest_fcall.suites.bfcl.case_book import CaseBook


def add_options(parser: ArgumentParser) -> None:
    """Add what this format needs to know."""
    parser.add_argument(
        "--cases",
        required=True,
        type=Path,
        metavar="FILE",
        help="the cases, with their ground truth; or the folder of the leaderboard's own data",
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=("auto", "raw", "decoded"),
        default="auto",
        help="judge what the model said (raw), or what was decoded from it; auto takes raw where a row has it",
    )
    parser.add_argument("--differences", metavar="FILE", help="write the rows that the two profiles judge differently")


def passed_over(name: str) -> str:
    """Why a file is not judged: empty for most."""
    held_before = Path(name).name.partition(".")[0].endswith("_prereq_result")
    return "conversations that fill a memory have no right answer; the questions after them do" if held_before else ""


def judge_of(parser: ArgumentParser, options: Namespace) -> BfclJudge:
    """Read the cases, so that what is wrong with their file is said before anything is judged."""
    judge = BfclJudge(options.cases, options.source)
    try:
        _case_book(judge.cases)
    except OSError as error:
        parser.error(f"cannot read {options.cases}: {error.strerror or error}")
    return judge


@dataclass(frozen=True, slots=True)
class BfclJudge:
    """Judges rows by the cases in a file, which each process reads for itself."""

    names: ClassVar = ("category", "id")

    cases: Path
    source: Source

    def __call__(self, row: Mapping[str, Json]) -> RowVerdict:
        """Judge the answer in `row`."""
        from pytest_fcall.suites.bfcl.answers import as_answer_row, read_answer
        from pytest_fcall.suites.bfcl.case_book import is_conversation, verdict_row
        from pytest_fcall.suites.bfcl.judge import score_answer
        from pytest_fcall.suites.bfcl.profile_differences import profile_difference

        row = as_answer_row(row)
        if is_conversation(row):
            return self._conversation(row)
        if executed := _case_book(self.cases).executed_judge(row):
            return RowVerdict(verdict_row(row, executed.verdict(read_answer(row, self.source))))
        case = _case_book(self.cases).case(row)
        answer = read_answer(row, self.source)
        scored = score_answer(case, answer)
        named = {"category": row["category"], "id": case.case.id}
        verdict = {**named, **scored.as_row()}
        why = profile_difference(case, scored)
        return RowVerdict(verdict, None if why is None else (why, {"why": why, **verdict}))

    def _conversation(self, row: Mapping[str, Json]) -> RowVerdict:
        from pytest_fcall.suites.bfcl.case_book import conversation_score_row

        return RowVerdict(conversation_score_row(row, _case_book(self.cases).conversation_judge(row)))

    def earlier(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        """The official verdict."""
        return {key: row[key] for key in ("valid", "error_type") if key in row}


@lru_cache(maxsize=1)
def _case_book(path: Path) -> CaseBook:
    from pytest_fcall.suites.bfcl.case_book import CaseBook

    return CaseBook(path)
