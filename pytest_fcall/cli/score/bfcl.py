"""`fcall score --format bfcl`: answers to the cases of the Berkeley Function Calling Leaderboard."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from pytest_fcall.cli.score.rows import GroupSums, GroupTotals, GroupValues, RowJudge, RowVerdict
from pytest_fcall.core.extension import Table
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.answers import (
    ANSWER_DECODERS,
    UNKNOWN_HANDLER,
    BfclAnswer,
    Handler,
    ResultSource,
    as_answer_row,
    category_of_id,
    read_answer,
)
from pytest_fcall.suites.bfcl.case_index import CaseIndex, conversation_score_row, is_conversation, verdict_row
from pytest_fcall.suites.bfcl.figures import Tallies, accuracy_table, counted_category
from pytest_fcall.suites.bfcl.handlers import find_handler, has_family_mark, is_open, name_forms
from pytest_fcall.suites.bfcl.judge import score_answer
from pytest_fcall.suites.bfcl.known_models import known_models, package_folder
from pytest_fcall.suites.bfcl.leaderboard_csv import MEASURED, ModelScores, csv_files, measured_numbers
from pytest_fcall.suites.bfcl.profile_differences import profile_difference
from pytest_fcall.suites.bfcl.rest import UNRECORDED
from pytest_fcall.suites.bfcl.result_files import category_of_file, model_of_file, with_current_id
from pytest_fcall.suites.json_files import BrokenRow, parse_record

_UNRECORDED = (
    "no recorded response tells what a server answers, and none was asked; they are judged wrong, with the error type "
    f"{UNRECORDED}"
)
_OTHER_NAMES = (
    "a name is not written as most of the file write theirs, with dots or with underscores for them; "
    "say with --names how they were offered"
)
_OTHER_FORMAT = (
    "a call is marked in a format of its own, but other texts of the file are calls in Python; "
    "say with --decoder how to read them"
)


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
    parser.add_argument(
        "--names",
        choices=("dots", "underscores"),
        help="how the names of functions were offered to the model (default: as most of its calls have them)",
    )
    parser.add_argument(
        "--decoder",
        choices=ANSWER_DECODERS,
        metavar="NAME",
        help="what reads the text of rows that do not name a decoder (default: found out, where rows leave no doubt): "
        f"{', '.join(ANSWER_DECODERS)}",
    )
    parser.add_argument(
        "--totals", action="store_true", help="print the accuracy by category at the end, and the leaderboard's scores"
    )
    parser.add_argument(
        "--model",
        metavar="NAME",
        help="whose answers these are (default: what rows say in `model`, or the folder or the name of the file)",
    )
    parser.add_argument("--differences", metavar="FILE", help="write the rows that the two profiles judge differently")


def judge_of(parser: ArgumentParser, options: Namespace) -> BfclRowJudge:
    """The judge of the command line. A file that cannot be read ends the program through `parser`."""
    underscored = None if options.names is None else options.names == "underscores"
    handler = Handler(underscored=underscored, decoder=options.decoder)
    judge = BfclRowJudge(options.cases, options.source, handler, totals=options.totals, model=options.model or "")
    try:
        _case_index(judge.cases)
    except OSError as error:
        parser.error(f"cannot read {options.cases}: {error.strerror or error}")
    return judge


@dataclass(frozen=True, slots=True)
class BfclRowJudge(RowJudge):
    """Judges rows by the cases in a file, which each process reads for itself."""

    row_fields: ClassVar = ("category", "id")
    has_two_profiles: ClassVar = True

    cases: Path
    source: ResultSource
    asked: Handler = UNKNOWN_HANDLER
    """The handler as the command line has it."""
    handler: Handler = UNKNOWN_HANDLER
    """The handler as the rows of a file have it."""
    totals: bool = False
    model: str = ""
    """The model that gave the answers; empty where rows and files name it."""
    file: str = ""

    def of_file(self, name: str) -> BfclRowJudge:
        """Return the judge of the answers in a file."""
        return replace(self, file=name)

    def has_open_rows(self, lines: Iterable[bytes]) -> bool:
        """Return whether some of these rows do not say how the handler writes answers."""
        return any(map(is_open, self._readable_rows(lines)))

    def habits_of(self, lines: Iterable[bytes]) -> Handler:
        """Return the handler that wrote the answers of a file."""
        rows = filter(is_open, self._readable_rows(lines))
        return find_handler(rows, _case_index(self.cases).offered_names, self.asked)

    def _readable_rows(self, lines: Iterable[bytes]) -> Iterator[Mapping[str, Json]]:
        for line in lines:
            try:
                yield self._with_current_id(parse_record(line))
            except BrokenRow:  # told when it is judged
                continue

    def _with_current_id(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        return with_current_id(row, category_of_file(self.file))

    def with_habits(self, habits: Handler) -> BfclRowJudge:
        """Return the judge of the answers of a handler."""
        return replace(self, handler=habits)

    def judge(self, row: Mapping[str, Json]) -> RowVerdict:
        """Judge the answer in `row` by both profiles; conversations and executed calls have one rule."""
        row = self._with_current_id(row)
        judged = self._judged(row)
        if not self.totals:
            return judged
        sums, values = self._totals(row, str(judged.verdict["category"]), right=judged.verdict["valid"] is True)
        return replace(judged, group_sums=sums, group_values=values)

    def verdict_of_broken(self, row: Mapping[str, Json]) -> RowVerdict:
        """An answer that is not right, as the leaderboard counts it, whatever the reason why it cannot be judged."""
        known = RowJudge.verdict_of_broken(self, row)
        row = self._with_current_id(row)
        category = str(row.get("category") or category_of_id(str(row.get("id") or "")))
        if not (self.totals and category):
            return known
        sums, values = self._totals(row, category, right=False)
        return replace(known, group_sums=sums, group_values=values)

    def _totals(
        self, row: Mapping[str, Json], category: str, *, right: bool
    ) -> tuple[Sequence[GroupSums], GroupValues]:
        model = self.model or str(row.get("model") or model_of_file(self.file))
        counted = counted_category(category, str(row.get("id")))
        measured = {name: measured_numbers(row.get(name)) for name in MEASURED}
        return [GroupSums((model, counted), (int(right), 1))], GroupValues((model,), measured)

    def _judged(self, row: Mapping[str, Json]) -> RowVerdict:
        index, written = _case_index(self.cases), row
        row = as_answer_row(row, self.handler)
        if is_conversation(row):
            return RowVerdict(conversation_score_row(row, index.conversation_judge(row)))
        answer = read_answer(row, self.source, self.handler)
        if executed := index.executed_judge(row):
            found = executed.verdict(answer)
            caution = _UNRECORDED if found.error_type == UNRECORDED else ""
            return RowVerdict(verdict_row(row, found), caution=caution)
        case = index.case(row)
        scored = score_answer(case, answer)
        verdict = {"category": row["category"], "id": case.case.id, **scored.as_row()}
        why = profile_difference(case, scored)
        difference = None if why is None else (why, {"why": why, **verdict})
        return RowVerdict(verdict, difference, caution=self._caution(written, answer, index))

    def _caution(self, row: Mapping[str, Json], answer: BfclAnswer, index: CaseIndex) -> str:
        """The evidence against the findings about the handler."""
        if answer.form in ("fc", "text") and "underscore_to_dot" not in row and self.asked.underscored is None:
            other = "dots" if answer.underscored else "underscores"
            if other in {*name_forms(row, self.handler.decoder, index.offered_names(row))}:
                return _OTHER_NAMES
        is_guess = answer.form == "prompt" and "style" not in row and "decoder" not in row
        if is_guess and isinstance(answer.content, str) and has_family_mark(answer.content):
            return _OTHER_FORMAT
        return ""

    def recorded_verdict(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        """The official verdict."""
        return {key: row[key] for key in ("valid", "error_type") if key in row}

    def tables(self, sums: Mapping[tuple[str, ...], Sequence[float]]) -> Iterator[Table]:
        """The categories and the scores of each model."""
        sizes = _case_index(self.cases).size
        for model, tallies in _tallies(sums).items():
            yield accuracy_table(model, tallies, {name: sizes(name) for name in tallies})

    def csv_files(self, totals: GroupTotals) -> Iterator[tuple[str, str]]:
        """The tables of the harness."""
        models = [
            ModelScores(model, tallies, *(totals.values.get((model,), {}).get(name, ()) for name in MEASURED))
            for model, tallies in _tallies(totals.sums).items()
        ]
        if models:
            yield from csv_files(models, known_models(package_folder(self.cases)))

    def skip_reason(self, file: str) -> str:
        """The reason not to judge the rows of a file; empty where they are judged."""
        is_preparation = Path(file).name.partition(".")[0].endswith("_prereq_result")
        if is_preparation:
            return "conversations that fill a memory have no right answer, only the questions after them do"
        return ""


def _tallies(sums: Mapping[tuple[str, ...], Sequence[float]]) -> Mapping[str, Tallies]:
    """The tallies of each model."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for (model, category), (right, answers) in sums.items():
        found.setdefault(model, {})[category] = int(right), int(answers)
    return found


@lru_cache(maxsize=1)
def _case_index(path: Path) -> CaseIndex:
    return CaseIndex(path)
