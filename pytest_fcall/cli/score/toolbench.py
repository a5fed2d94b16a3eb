"""`fcall score --format toolbench`: answers to the tasks of ToolBench that need no network."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from pytest_fcall.cli.score.rows import RowJudge, RowVerdict, object_field
from pytest_fcall.core.json_reading import read_json
from pytest_fcall.core.regular_file import read_regular
from pytest_fcall.core.values import Json
from pytest_fcall.suites.toolbench.score import score_row
from pytest_fcall.suites.toolbench.virtual_home import KNOWN_ACTIONS, Actions, actions_from_data


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this format."""
    parser.add_argument(
        "--objects",
        type=Path,
        metavar="FILE",
        help="the actions and their objects in virtual_home: valid_object_lists.json of the task",
    )


def judge_of(parser: ArgumentParser, options: Namespace) -> ToolBenchJudge:
    """The judge of the command line. A file that cannot be read ends the program through `parser`."""
    try:
        _read_actions(options.objects)
    except OSError as error:
        parser.error(f"cannot read {options.objects}: {error.strerror or error}")
    except (ValueError, RecursionError) as error:
        parser.error(f"cannot read {options.objects}: {error}")
    return ToolBenchJudge(options.objects)


@dataclass(frozen=True, slots=True)
class ToolBenchJudge(RowJudge):
    """Judges rows by what they hold, and by the objects in a file, which each process reads for itself."""

    row_fields: ClassVar = ("task", "case")

    objects: Path | None

    def judge(self, row: Mapping[str, Json]) -> RowVerdict:
        """Score the prediction in `row`."""
        identity = {key: row.get(key) for key in self.row_fields}
        scores = asdict(score_row(row, _read_actions(self.objects)))
        del scores["explanation"]  # the original script gives no reason
        return RowVerdict({**identity, **scores})

    def recorded_verdict(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        """The scores in `result`."""
        return object_field(row, "result")


@lru_cache(maxsize=1)
def _read_actions(path: Path | None) -> Actions:
    return KNOWN_ACTIONS if path is None else actions_from_data(read_json(read_regular(path)))
