"""`fcall history`: accuracy over the recorded runs."""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_fcall.cli.command_parser import command_parser, whole_number
from pytest_fcall.cli.project import root_of
from pytest_fcall.core.glob import glob_matches
from pytest_fcall.core.rate import Rate
from pytest_fcall.reporting.answer_origin import origin_text
from pytest_fcall.reporting.history import HistoricRun, Series, history_lines, last_outcome_lines
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.result.kept_run import Run, load_run
from pytest_fcall.tracking.run_file import RunFileError, run_paths

_EXAMPLES = """\
examples:
  fcall history                                  all models, over the last 20 runs
  fcall history --categories --model '*gpt*'     with their categories
  fcall history -n 100 archive/*.json            run files, such as artifacts of CI

Single shards and interrupted runs are left out.
"""


def run(arguments: Sequence[str]) -> int:
    """Print a chart; 1 where there is nothing to show."""
    options = _parser().parse_args(arguments)
    paths = options.files or run_paths(root_of([Path.cwd()]))
    runs = sorted(_complete_runs(paths), key=lambda each: (each.file.started, each.file.id))[-options.number :]
    series = list(_series(runs, options.model, options.categories))
    if not series:
        print("fcall history: no complete run with an answer is recorded: run pytest first", file=sys.stderr)
        return 1
    width = shutil.get_terminal_size((100, 24)).columns
    newest = [result for result in runs[-1].results.results if glob_matches(options.model, result.model)]
    lines = history_lines(series, [*map(_historic, runs)], width, sys.stdout.encoding)
    print(*lines, *last_outcome_lines(newest), sep="\n")
    return 0


def _historic(run: Run) -> HistoricRun:
    results = run.results.results
    asked = any(result.asked for result in results) or not any(result.replays for result in results)
    return HistoricRun(run.file.started.replace("T", " ")[:16], origin_text(run.results), asked)


def _parser() -> ArgumentParser:
    parser = command_parser("history", "Show accuracy over the recorded runs, by model and category.", _EXAMPLES)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="run files (default: those in .fcall/runs)")
    parser.add_argument(
        "-n", "--number", type=whole_number(1000), default=20, metavar="N", help="the last N runs (default: 20)"
    )
    parser.add_argument("--model", default="*", metavar="GLOB", help="only models whose names match")
    parser.add_argument("--categories", action="store_true", help="show each category as well")
    return parser


def _complete_runs(paths: Iterable[Path]) -> Iterator[Run]:
    """The runs that cover all cases. Prints why a file cannot be read, and skips it."""
    for path in paths:
        try:
            run = load_run(path)
        except RunFileError as error:
            print(f"fcall history: {safe_line(str(error))}", file=sys.stderr)
        else:
            complete = run.file.shard is None and not run.file.broken_off
            if complete and any(result.answered for result in run.results.results):
                yield run


def _series(runs: Sequence[Run], models: str, by_category: bool) -> Iterator[Series]:
    points = [_points_of(run.results.results) for run in runs]
    names = sorted({name for own in points for name in own if glob_matches(models, name[0])})
    for model, category in names:
        if category == "" or by_category:
            yield Series(model, category or "all", tuple(own.get((model, category)) for own in points))


def _points_of(results: Sequence[Result]) -> dict[tuple[str, str], Rate]:
    """The number of right and of all answers, by model and category; the category `""` covers all."""
    answers: dict[tuple[str, str], list[bool]] = {}
    for result in results:
        if result.answered:
            for category in ("", result.category):
                answers.setdefault((result.model, category), []).append(result.right)
    return {name: Rate(sum(right), len(right)) for name, right in answers.items()}
