"""`fcall score --format toolbench`: answers to the tasks of ToolBench that need no network."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import ClassVar, Final

from pytest_fcall.cli.score.rows import GroupSums, RowJudge, RowVerdict
from pytest_fcall.core.extension import Table
from pytest_fcall.core.files import read_regular
from pytest_fcall.core.json_data import read_json
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.number_text import percent_text
from pytest_fcall.suites.toolbench.judge import score_row
from pytest_fcall.suites.toolbench.virtual_home import KNOWN_ACTIONS, Actions, actions_from_data

_SCORES: Final = ("executability", "success", "f1", "precision", "recall", "lcs", "lcs(executable)")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this format."""
    parser.add_argument(
        "--objects",
        type=Path,
        metavar="FILE",
        help="the actions and their objects in virtual_home: valid_object_lists.json of the task",
    )
    parser.add_argument("--totals", action="store_true", help="print the scores of each task at the end")


def judge_of(parser: ArgumentParser, options: Namespace) -> ToolBenchRowJudge:
    """The judge of the command line. A file that cannot be read ends the program through `parser`."""
    try:
        _read_actions(options.objects)
    except OSError as error:
        parser.error(f"cannot read {options.objects}: {error.strerror or error}")
    except (ValueError, RecursionError) as error:
        parser.error(f"cannot read {options.objects}: {error}")
    return ToolBenchRowJudge(options.objects, options.totals)


@dataclass(frozen=True, slots=True)
class ToolBenchRowJudge(RowJudge):
    """Judges rows by what they hold, and by the objects in a file, which each process reads for itself."""

    row_fields: ClassVar = ("task", "case")

    objects: Path | None
    totals: bool = False

    def judge(self, row: Mapping[str, Json]) -> RowVerdict:
        """Score the prediction in `row`."""
        identity = {key: row.get(key) for key in self.row_fields}
        scores = asdict(score_row(row, _read_actions(self.objects)))
        del scores["explanation"]  # the original script gives no reason
        sums = GroupSums((str(row.get("task")),), tuple(chain.from_iterable(_added(scores).values())))
        return RowVerdict({**identity, **scores}, group_sums=[sums] if self.totals else ())

    def tables(self, sums: Mapping[tuple[str, ...], Sequence[float]]) -> Iterator[Table]:
        """The means of the scores of each task. The original has none over all tasks."""
        rows = []
        for (task,), numbers in sums.items():
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            answers = f"{numbers[1]:,.0f}"
            rows.append((task, answers, *(percent_text(total / of) if of else "" for total, of in pairs)))
        if rows:
            yield Table(("task", "answers", *_SCORES), tuple(rows))


def _added(scores: Mapping[str, Json]) -> Mapping[str, tuple[float, int]]:
    """The contribution of an answer to each score, and to the number of answers that have it."""
    runs = not scores["crashed"]
    values = {
        "executability": float(runs),
        **{name: scores[name] for name in ("success", "f1", "precision", "recall")},
        "lcs": scores["lcs_score"],
        "lcs(executable)": scores["lcs_score"] if runs else None,
    }
    return {name: _pair(values[name]) for name in _SCORES}


def _pair(value: Json) -> tuple[float, int]:
    return (float(value), 1) if isinstance(value, int | float) else (0.0, 0)


@lru_cache(maxsize=1)
def _read_actions(path: Path | None) -> Actions:
    return KNOWN_ACTIONS if path is None else actions_from_data(read_json(read_regular(path)))
