"""`fcall score --format acebench`: answers to ACEBench, as its own code stores them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import ClassVar

from pytest_fcall.cli.score.rows import GroupSums, RowJudge, RowVerdict
from pytest_fcall.core.case import FaultyCase
from pytest_fcall.core.extension import Table
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json, is_strings
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.suites.acebench.categories import CATEGORIES, LANGUAGES, CaseId, QuestionCategory, read_id
from pytest_fcall.suites.acebench.files import AceBenchQuestion, find_questions, read_questions
from pytest_fcall.suites.acebench.rule import judge_answer, judge_task, task_progress
from pytest_fcall.suites.acebench.scores import column_shares
from pytest_fcall.suites.acebench.suite import case_of
from pytest_fcall.suites.json_files import BrokenRow, string_field


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this format."""
    parser.add_argument("--data", required=True, type=Path, metavar="DIR", help="the checkout of ACEBench")
    parser.add_argument(
        "--language", choices=LANGUAGES, help="the language of the questions, for rows whose id does not begin with it"
    )
    parser.add_argument("--totals", action="store_true", help="print the original's scores at the end")


def judge_of(parser: ArgumentParser, options: Namespace) -> AceBenchJudge:
    """The judge of the command line. A folder without questions ends the program through `parser`."""
    if not any(find_questions(language, each, options.data) for language in LANGUAGES for each in CATEGORIES.values()):
        parser.error(f"{options.data} is no checkout of ACEBench: it has no data_all/data_en or data_all/data_zh")
    return AceBenchJudge(options.data, options.language or "", options.totals)


@dataclass(frozen=True, slots=True)
class AceBenchJudge(RowJudge):
    """Judges rows by the possible answers in a folder, which each process reads for itself."""

    row_fields: ClassVar = ("id",)

    data: Path
    language: str
    totals: bool

    def judge(self, row: Mapping[str, Json]) -> RowVerdict:
        """Judge the result in `row` by the original rule, and a text by the profile `strict`, too."""
        id_ = string_field(row, "id")
        named, question = self._question(id_)
        if "result" not in row:
            raise BrokenRow("missing `result`")
        result, category = row["result"], named.category
        if category.kind == "agent":
            ruling = judge_task(question.truth, result)
            progress = 1.0 if ruling.valid else _progress(question, row)
            own: dict[str, Json] = {"strict_valid": None, "progress": progress}
        else:
            ruling = judge_answer(category, question.functions, question.truth, result)
            progress = 0.0
            own = {"strict_valid": _is_strictly_right(category, question, result)}
        group = GroupSums((named.language, category.name, named.dialogue), (int(ruling.valid), 1, progress))
        verdict: dict[str, Json] = {"id": id_, "valid": ruling.valid, "error_type": ruling.error_type, **own}
        return RowVerdict(verdict, group_sums=[group] if self.totals else ())

    def _question(self, id_: str) -> tuple[CaseId, AceBenchQuestion]:
        """The parts of an id, and its question. Raises BrokenRow."""
        named = read_id(id_)
        if named is None:
            raise BrokenRow(f"{id_!r:.80} is no id of ACEBench, such as normal_atom_bool_0 or special_incomplete_0")
        if not named.language:
            if not self.language:
                raise BrokenRow(f"{id_} may be English or Chinese; say which with --language")
            named, id_ = replace(named, language=self.language), f"{self.language}_{id_}"
        question = _questions(named.language, named.category, self.data).get(id_)
        if question is None:
            raise BrokenRow(f"{self.data} has no question {id_}")
        if isinstance(question, FaultyCase):
            raise BrokenRow(f"{id_} cannot be read: {question.faults[0].message}")
        return named, question

    def recorded_verdict(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        """The verdict, where a row has one."""
        return {key: row[key] for key in ("valid", "error_type") if key in row}

    def tables(self, sums: Mapping[tuple[str, ...], Sequence[float]]) -> Iterable[Table]:
        """The original's scores, with three digits as there, for each language."""
        for language, title in LANGUAGES.items():
            groups = {(name, dialogue): own for (of, name, dialogue), own in sums.items() if of == language}
            if groups:
                yield Table((title, "n", "accuracy"), tuple(_rows(groups)))


def _rows(groups: Mapping[tuple[str, str], Sequence[float]]) -> Iterator[tuple[str, str, str]]:
    sizes = {
        each.column: sum(int(own[1]) for (name, _), own in groups.items() if name == each.name)
        for each in CATEGORIES.values()
    }
    for column, share in column_shares(groups).items():
        size = sizes.get(column)
        yield column, f"{size:,}" if size else "", "-" if share is None else f"{share:.3f}"


def _progress(question: AceBenchQuestion, row: Mapping[str, Json]) -> float:
    """The share of milestones in `process`. Raises BrokenRow."""
    process = row.get("process")
    if not is_strings(process):
        raise BrokenRow("the result of an agent needs `process`, a list of its calls as strings")
    return task_progress(question.milestones, process)


def _is_strictly_right(category: QuestionCategory, question: AceBenchQuestion, result: Json) -> bool:
    if not isinstance(result, str):
        return False
    try:
        case = case_of(category, question)
    except (SchemaError, RecursionError) as error:
        raise BrokenRow(f"the functions of {question.id} cannot be read: {error}") from None
    reply = Reply(result, decoder=case.decoder)
    context = MatchContext(case.tools, case.rules._replace(profile="strict"))
    return judge_turn(reply, decode(reply, case.tools), case.turns[0], context).valid


@cache
def _questions(language: str, category: QuestionCategory, folder: Path) -> Mapping[str, AceBenchQuestion | FaultyCase]:
    try:
        return {each.id: each for each in read_questions(language, category, folder)}
    except (ValueError, OSError) as error:
        raise BrokenRow(str(error)) from None
