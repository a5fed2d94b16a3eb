"""`fcall score --format nestful`: results of NESTFUL, as its own code stores them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from pytest_fcall.cli.score.rows import GroupSums, RowJudge, RowVerdict
from pytest_fcall.core.extension import Table
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenRow
from pytest_fcall.suites.nestful.files import right_calls
from pytest_fcall.suites.nestful.rule import DECODERS, Labels, NestfulScore, macro_f1, score_answer

_ROWS: Final = "rows"
_FUNCTIONS: Final = "functions"
_SLOTS: Final = "slots"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this format."""
    parser.add_argument(
        "--decoder",
        choices=DECODERS,
        default="json",
        metavar="NAME",
        help=f"the original's reader for the family of the model: {', '.join(DECODERS)} (default: json)",
    )
    parser.add_argument("--totals", action="store_true", help="print the original's scores at the end")


def judge_of(_: ArgumentParser, options: Namespace) -> NestfulRowJudge:
    """The judge of the command line."""
    return NestfulRowJudge(options.decoder, options.totals)


@dataclass(frozen=True, slots=True)
class NestfulRowJudge(RowJudge):
    """Judges rows by what they hold."""

    row_fields: ClassVar = ("sample_id",)

    decoder: str
    totals: bool

    def judge(self, row: Mapping[str, Json]) -> RowVerdict:
        """Score the `generated_text` of a row by its `output`."""
        text = row.get("generated_text")
        if not isinstance(text, str):
            raise BrokenRow("`generated_text` must be a string")
        score = score_answer(right_calls(row), text, self.decoder)
        verdict: dict[str, Json] = {
            "sample_id": row.get("sample_id"),
            "valid": score.full,
            "partial_match": score.partial,
            "readable": score.readable,
        }
        return RowVerdict(verdict, group_sums=[*_sums(score)] if self.totals else ())

    def tables(self, sums: Mapping[tuple[str, ...], Sequence[float]]) -> Iterable[Table]:
        """The original's scores, under its own names and with as many digits."""
        rows, partial, full, unreadable, slots = sums.get((_ROWS,), (0, 0, 0, 0, 0))
        if not rows:
            return
        shares = {
            "F1 Intent": macro_f1(_labelled(_FUNCTIONS, sums), rows),
            "F1 Slot": macro_f1(_labelled(_SLOTS, sums), slots),
            "Partial Match Accuracy": partial / rows,
            "Full Match Accuracy": full / rows,
        }
        counts = {"Total Samples": rows, "Parsing Errors": unreadable}
        yield Table(
            ("NESTFUL", "score"),
            (
                *((name, f"{count:.0f}") for name, count in counts.items()),
                *((name, "-" if share is None else f"{share:.3f}") for name, share in shares.items()),
            ),
        )


def _labelled(kind: str, sums: Mapping[tuple[str, ...], Sequence[float]]) -> Iterator[tuple[float, float, float]]:
    for (own, *label), numbers in sums.items():
        if own == kind and label:
            hits, wrong, missed = numbers
            yield hits, wrong, missed


def _sums(score: NestfulScore) -> Iterator[GroupSums]:
    yield GroupSums((_ROWS,), (1, score.partial, int(score.full), int(not score.readable), len(score.slots)))
    yield from _label_sums(_FUNCTIONS, score.functions)
    for labels in score.slots:
        yield from _label_sums(_SLOTS, labels)


def _label_sums(kind: str, labels: Labels) -> Iterator[GroupSums]:
    """Of each label whether it was hit, given wrongly, or missed."""
    right, given = labels
    for label in right | given:
        yield GroupSums((kind, label), (int(label in right & given), int(label not in right), int(label not in given)))
