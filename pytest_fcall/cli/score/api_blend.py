"""`fcall score --format api_blend`: answers to the questions of API-BLEND's data sets."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import ClassVar, Final

from pytest_fcall.cli.score.rows import GroupSums, RowJudge, RowVerdict
from pytest_fcall.conversation.evidence import evidence_of
from pytest_fcall.conversation.named_scores import SCORES, score_value
from pytest_fcall.core.case import Case, FaultyCase
from pytest_fcall.core.conversation import Step, Transcript, TranscriptTurn
from pytest_fcall.core.extension import Table
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.reporting.number_text import percent_text
from pytest_fcall.suites.api_blend.data_sets import DATA_SETS, DOMAINS, is_in_domain, set_of_part
from pytest_fcall.suites.api_blend.suite import ApiBlendSuite
from pytest_fcall.suites.json_files import BrokenRow

_SCORES: Final = ("api_f1", "parameter_f1", "near_parameter_f1", "lcs_f1")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this format."""
    parser.add_argument("--data", required=True, type=Path, metavar="DIR", help="the folder with the data sets")
    parser.add_argument(
        "--totals", action="store_true", help="print the scores of each data set, in and out of domain, at the end"
    )


def judge_of(parser: ArgumentParser, options: Namespace) -> ApiBlendJudge:
    """The judge of the command line. Data that cannot be read ends the program through `parser`."""
    try:
        _cases(options.data)
    except OSError as error:
        parser.error(f"cannot read {options.data}: {error.strerror or error}")
    except ValueError as error:
        parser.error(str(error))
    return ApiBlendJudge(options.data, options.totals)


@dataclass(frozen=True, slots=True)
class ApiBlendJudge(RowJudge):
    """Judges rows by the data sets in a folder, which each process reads for itself."""

    row_fields: ClassVar = ("case",)

    data: Path
    totals: bool

    def judge(self, row: Mapping[str, Json]) -> RowVerdict:
        """Score the answer in `row` as a run does. Each score is that of this row alone."""
        match row:
            case {"case": str(id_), "answer": str() | None as answer}:
                case = self._case(id_)
            case _:
                raise BrokenRow("a row needs `case` and `answer`, a text or null")
        added = _numbers(case, answer or "")
        verdict: dict[str, Json] = {"case": id_, "valid": added.pop("valid")[0] == 1}
        for score in _SCORES:
            verdict[score] = score_value(score, [added[score]]) if score in added else None
        numbers = chain.from_iterable(added.get(score, (0.0,) * SCORES[score].width) for score in _SCORES)
        sums = GroupSums((case.category,), (1, *numbers))
        return RowVerdict(verdict, group_sums=[sums] if self.totals else ())

    def tables(self, sums: Mapping[tuple[str, ...], Sequence[float]]) -> Iterable[Table]:
        """The scores of each data set, and their averages by its size: in and out of domain, and over all."""
        if not sums:
            return
        sizes = {name: int(numbers[0]) for (name,), numbers in sums.items()}
        values = {name: _values(name, numbers[1:]) for (name,), numbers in sums.items()}
        names = [name for name in DATA_SETS if name in values]
        groups = {domain: [name for name in names if is_in_domain(name) is inside] for domain, inside in DOMAINS}
        rows = [(name, f"{sizes[name]:,}", *map(percent_text, values[name].values())) for name in names]
        for title, own in (*groups.items(), ("all", names)):
            weighed = [_average([(sizes[name], values[name][score]) for name in own]) for score in _SCORES]
            rows.append((title, f"{sum(sizes[name] for name in own):,}", *map(percent_text, weighed)))
        yield Table(("data set", "n", *_SCORES), tuple(rows))

    def _case(self, id_: str) -> Case:
        part, _, number = id_.rpartition("_")
        case = _cases(self.data).get(f"{set_of_part(part).name}_{number}")
        if case is None:
            raise BrokenRow(f"{self.data} has no case {id_!r:.80}; cases are called as in a run, such as seq_atis_1")
        if isinstance(case, FaultyCase):
            raise BrokenRow(f"{id_} cannot be read: {case.faults[0].message}")
        return case


def _numbers(case: Case, text: str) -> dict[str, tuple[float, ...]]:
    """The contribution of an answer to each score, and whether it is right."""
    reply = Reply(text, decoder=case.decoder)
    calls = decode(reply, case.tools)
    verdict = judge_turn(reply, calls, case.turns[0], MatchContext(case.tools, case.rules))
    held = TranscriptTurn((Step(Request(case.turns[0].messages, case.tools), reply, calls),), "answered")
    evidence = evidence_of(case, Transcript((held,)), verdict)
    wanted = _scores_of(case.category)
    found = {score: numbers for score in wanted if (numbers := SCORES[score].numbers(evidence)) is not None}
    return {"valid": (int(verdict.valid),), **found}


def _scores_of(data_set: str) -> Sequence[str]:
    """The scores of a data set; those of arguments only where its right answers have some."""
    return [score for score in _SCORES if "parameter" not in score or not DATA_SETS[data_set].names_only]


def _values(data_set: str, numbers: Sequence[float]) -> dict[str, float | None]:
    """The scores that sums come to."""
    values: dict[str, float | None] = {}
    start = 0
    for score in _SCORES:
        part = numbers[start : start + SCORES[score].width]
        values[score] = score_value(score, [part]) if score in _scores_of(data_set) else None
        start += len(part)
    return values


def _average(weighed: Sequence[tuple[int, float | None]]) -> float | None:
    """The average, weighted by size, of the data sets that have the score."""
    known = [(size, value) for size, value in weighed if value is not None]
    size = sum(size for size, _ in known)
    return sum(size * value for size, value in known) / size if size else None


@lru_cache(maxsize=1)
def _cases(folder: Path) -> Mapping[str, Case | FaultyCase]:
    return {case.id: case for case in ApiBlendSuite().cases("", folder)}
