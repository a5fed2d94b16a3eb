"""`fcall score --format toolbench`: answers to the tasks of ToolBench that need no network."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pytest_fcall.cli.score.rows import RowVerdict, object_field
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.suites.toolbench.virtual_home import Actions


def add_options(parser: ArgumentParser) -> None:
    """Add what this format needs to know."""
    parser.add_argument(
        "--objects",
        type=Path,
        metavar="FILE",
        help="what can be done with which things in virtual_home: the task's valid_object_lists.json",
    )


def judge_of(parser: ArgumentParser, options: Namespace) -> ToolBenchJudge:
    """Read the objects, so that what is wrong with their file is said before anything is judged."""
    try:
        _read_actions(options.objects)
    except OSError as error:
        parser.error(f"cannot read {options.objects}: {error.strerror or error}")
    except (ValueError, RecursionError) as error:
        parser.error(f"cannot read {options.objects}: {error}")
    return ToolBenchJudge(options.objects)


@dataclass(frozen=True, slots=True)
class ToolBenchJudge:
    """Judges rows by themselves, and by objects in a file, which each process reads for itself."""

    names: ClassVar = ("task", "case")

    objects: Path | None

    def __call__(self, row: Mapping[str, Json]) -> RowVerdict:
        """Score the prediction in `row`."""
        from pytest_fcall.suites.toolbench.score import score_row

        named = {key: row.get(key) for key in self.names}
        figures = asdict(score_row(row, _read_actions(self.objects)))
        del figures["explanation"]  # the original has none
        return RowVerdict({**named, **figures})

    def earlier(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        """The scores in `result`."""
        return object_field(row, "result")


@lru_cache(maxsize=1)
def _read_actions(path: Path | None) -> Actions:
    from pytest_fcall.suites.toolbench.virtual_home import KNOWN_ACTIONS, actions_from_data

    return KNOWN_ACTIONS if path is None else actions_from_data(json.loads(path.read_bytes()))
