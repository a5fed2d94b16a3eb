"""`fcall history`: accuracy over the runs that are kept."""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_fcall.cli.project import root_of
from pytest_fcall.core.glob import glob_matches
from pytest_fcall.reporting.history import Point, Series, history_lines
from pytest_fcall.reporting.result_json import results_from_json
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.tracking.run_file import RunFile, RunFileError, read_run, run_paths

_EXAMPLES = """\
examples:
  fcall history                                  every model, over the last 20 runs
  fcall history --categories --model '*gpt*'     its categories as well
  fcall history -n 100 archive/*.json            of files, say from CI

Runs of a share of the cases, and those that were broken off, are left out.
"""


def run(arguments: Sequence[str]) -> int:
    """Print a chart; 1 where there is nothing to show."""
    parser = _parser()
    options = parser.parse_args(arguments)
    paths = options.files or run_paths(root_of([Path.cwd()]))
    runs = sorted(_complete_runs(paths), key=lambda each: (each[0].started, each[0].id))[-options.number :]
    series = list(_series(runs, options.model, options.categories))
    if not series:
        print("fcall history: no whole run with an answer is kept: run pytest first", file=sys.stderr)
        return 1
    width = shutil.get_terminal_size((100, 24)).columns
    moments = [file.started.replace("T", " ")[:16] for file, _ in runs]
    print(*history_lines(series, moments, width, sys.stdout.encoding), sep="\n")
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall history",
        description="Show accuracy over the runs that are kept, by model and category.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="files of runs, in place of those kept")
    parser.add_argument("-n", "--number", type=_number, default=20, metavar="N", help="the last N runs (20)")
    parser.add_argument("--model", default="*", metavar="GLOB", help="only models whose names match")
    parser.add_argument("--categories", action="store_true", help="show each category as well")
    return parser


def _number(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise ArgumentTypeError(f"{text!r} is not a number from 1 to 1000")
    return int(text)


def _complete_runs(paths: Iterable[Path]) -> Iterator[tuple[RunFile, Sequence[Result]]]:
    """The runs that say something of all cases; what cannot be read is told, and passed over."""
    for path in paths:
        try:
            file = read_run(path)
            results = results_from_json(file.results).results
        except RunFileError as error:
            print(f"fcall history: {safe_line(str(error))}", file=sys.stderr)
        except ValueError as error:
            print(f"fcall history: {safe_line(f'{path}: not a run file: {error}')}", file=sys.stderr)
        else:
            if file.shard is None and not file.broken_off and any(result.answered for result in results):
                yield file, results


def _series(runs: Sequence[tuple[RunFile, Sequence[Result]]], models: str, by_category: bool) -> Iterator[Series]:
    counted = [_points_of(results) for _, results in runs]
    names = sorted({name for run in counted for name in run if glob_matches(models, name[0])})
    for model, category in names:
        if category == "" or by_category:
            yield Series(model, category or "all", tuple(run.get((model, category)) for run in counted))


def _points_of(results: Sequence[Result]) -> dict[tuple[str, str], Point]:
    """Right and all answers by model and category; all categories together are named by nothing."""
    answers: dict[tuple[str, str], list[bool]] = {}
    for result in results:
        if result.answered:
            for name in ("", result.category):
                answers.setdefault((result.model, name), []).append(result.right)
    return {name: Point(sum(found), len(found)) for name, found in answers.items()}
