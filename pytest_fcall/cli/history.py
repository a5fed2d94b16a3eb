"""`fcall history`: accuracy over the recorded runs, on the terminal or as a page."""

from __future__ import annotations

import json
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.cli.command_parser import command_parser, percentage, whole_number
from pytest_fcall.cli.project import root_of
from pytest_fcall.cli.runs import check_model_glob
from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.verdict import Rate
from pytest_fcall.reporting.answer_lines import is_asked, origin_text
from pytest_fcall.reporting.history import HistoricRun, RunSeries, history_lines, last_outcome_lines
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.endings import SettingError
from pytest_fcall.session.result.kept_runs import Run, RunFiles, find_runs
from pytest_fcall.session.result.report_files import ReportFile, usable_report, write_portions
from pytest_fcall.tracking.run_file import run_paths
from pytest_fcall.tracking.significance import SIGNIFICANCE_LEVEL

if TYPE_CHECKING:
    from pytest_fcall.reporting.night_watch import WatchedModel

_MOST_SHOWN = 20
_MOST_WATCHED = 1000

_EXAMPLES = """\
examples:
  fcall history                                  all models, over the last 20 runs
  fcall history --categories --model '*gpt*'     with their categories
  fcall history -n 100 archive/*.json            run files, such as artifacts of CI
  fcall history -n 100 artifacts -o history.html a folder of such artifacts, as a page for a browser
  fcall history --watch                          judge nightly runs, one after the other; 1 on an alarm, once
  fcall history --watch --acknowledge            begin anew: what has changed is known

Single shards and interrupted runs are left out.
"""


def run(arguments: Sequence[str]) -> int:
    """Print a chart, write the page or watch; 1 where there is nothing to show, or on an alarm."""
    parser = _parser()
    options = parser.parse_args(arguments)
    _check(parser, options.output, options.paths)
    _check_watch(parser, options)
    root = root_of([Path.cwd()])
    number = options.number or (_MOST_WATCHED if options.watch else _MOST_SHOWN)
    found = find_runs(options.paths or run_paths(root), number)
    for reason in found.unread:
        print(f"fcall history: {safe_line(reason)}", file=sys.stderr)
    if options.paths or options.watch:
        for line in found.left_out:
            print(f"fcall history: {safe_line(line)}", file=sys.stderr)
    check_model_glob(parser, options.model, found.runs)
    if options.watch:
        level = options.level or SIGNIFICANCE_LEVEL
        return _watch(parser, found, root, options.model, level, acknowledge=options.acknowledge, as_json=options.json)
    runs = [_of_models(each, options.model) for each in found.runs]
    if not any(result.answered for each in runs for result in each.results.results):
        where = "there" if options.paths else "recorded: run pytest first"
        print(f"fcall history: no complete run with an answer is {where}", file=sys.stderr)
        return 1
    if options.output:
        _write_page(options.output, found._replace(runs=runs), by_category=options.categories)
        print(safe_line(str(options.output)))
        return 0
    series = list(_series(runs, by_category=options.categories))
    width = shutil.get_terminal_size((100, 24)).columns
    lines = history_lines(series, [*map(_historic, found.runs)], width, sys.stdout.encoding)
    print(*lines, *last_outcome_lines(runs[-1].results.results), sep="\n")
    return 0


def _watch(
    parser: ArgumentParser, found: RunFiles, root: Path, glob: str, level: float, *, acknowledge: bool, as_json: bool
) -> int:
    """Judge the new nights; 1 where one raises an alarm, 10 where there is none to judge."""
    from pytest_fcall.session.result.watched_runs import nights_of, watched_models
    from pytest_fcall.tracking.night_watch import (
        WatchFileError,
        read_watches,
        restarted_watch,
        watch_path,
        write_watches,
    )

    path = watch_path(root)
    try:
        watches = read_watches(path)
    except WatchFileError as error:
        parser.error(safe_line(str(error)))
    nights = nights_of(found.runs)
    chosen = {model: each for model, each in nights.by_model.items() if glob_matches(glob, model)}
    models, after, notes = watched_models(found.runs, chosen, watches, level)
    last = max((each.last for model, each in watches.items() if glob_matches(glob, model)), default="")
    unjudged = sum(run > last for run in nights.unjudged)
    if unjudged:
        notes = [*notes, f"{plural_text(unjudged, 'run')} without a new answer not judged: replays are no evidence"]
    for line in (*nights.left_out, *notes):
        print(f"fcall history: {safe_line(line)}", file=sys.stderr)
    if not models:
        print("fcall history: no run with an answer that a model gave is there: nothing to watch", file=sys.stderr)
        return 1
    if acknowledge:
        after |= {each.model: restarted_watch(after[each.model]) for each in models}
    _print_watch(models, as_json=as_json)
    if after != watches:
        write_watches(path, after)
    if acknowledge:
        for each in models:
            line = f"acknowledged: the watch over {safe_line(each.model)} restarts with the next night"
            print(line, file=sys.stderr)
        return 0
    if any(each.is_new_alarm for each in models):
        return 1
    return 0 if any(each.new for each in models) else 10


def _print_watch(models: Sequence[WatchedModel], *, as_json: bool) -> None:
    from pytest_fcall.reporting.night_watch import watch_lines, watch_to_json

    if as_json:
        print(json.dumps(watch_to_json(models), indent=2))
        return
    print(*watch_lines(models, shutil.get_terminal_size((100, 24)).columns, sys.stdout.encoding), sep="\n")


def _write_page(path: Path, found: RunFiles, *, by_category: bool) -> None:
    from pytest_fcall.reporting.reports.history.page import write
    from pytest_fcall.session.result.kept_runs import history_of

    # A run without the models that are shown is left out, so that the last run of the page is one.
    runs = [each for each in found.runs if any(result.answered for result in each.results.results)]
    write_portions(path, write(history_of(found._replace(runs=runs), path, by_category=by_category)))


def _of_models(run: Run, glob: str) -> Run:
    """The run with the results of some models alone."""
    found = tuple(result for result in run.results.results if glob_matches(glob, result.model))
    return replace(run, results=replace(run.results, results=found))


def _historic(run: Run) -> HistoricRun:
    return HistoricRun(run.file.started.replace("T", " ")[:16], origin_text(run.results), is_asked(run.results))


def _check(parser: ArgumentParser, output: Path | None, paths: Sequence[Path]) -> None:
    """End the program where the page cannot be written, or a file or folder is not there."""
    for path in paths:
        if not path.exists():
            parser.error(f"no such file or folder: {safe_line(str(path))}")
    if output is None:
        return
    if output.suffix.lower() != ".html":
        parser.error(f"-o: {safe_line(str(output))}: the history is a page: give it a name that ends in .html")
    try:
        usable_report(ReportFile("html", output))
    except SettingError as error:
        parser.error(safe_line(str(error)).removeprefix("--fc-report: "))


def _check_watch(parser: ArgumentParser, options: Namespace) -> None:
    """End the program where options are about a watch and there is none, or the reverse."""
    of_watch = {"--level": options.level, "--acknowledge": options.acknowledge, "--json": options.json}
    others = {"-n": options.number, "--categories": options.categories, "-o": options.output}
    for name, value in (others if options.watch else of_watch).items():
        if value:
            parser.error(f"{name} {'has no meaning with' if options.watch else 'is an option of'} --watch")


def _parser() -> ArgumentParser:
    parser = command_parser("history", "Show accuracy over the recorded runs, by model and category.", _EXAMPLES)
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="run files, and folders of them (default: .fcall/runs)"
    )
    parser.add_argument(
        "-n", "--number", type=whole_number(1000), metavar="N", help=f"the last N runs (default: {_MOST_SHOWN})"
    )
    parser.add_argument("--model", default="*", metavar="GLOB", help="only models whose names match")
    parser.add_argument("--categories", action="store_true", help="show each category as well")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE.html", help="write a page with cost, time and what changed, too"
    )
    parser.add_argument(
        "--watch", action="store_true", help="judge new runs against those before; 1 where one raises an alarm, once"
    )
    parser.add_argument(
        "--level", type=percentage, metavar="5%", help="largest probability of any false alarm, ever (default: 5%%)"
    )
    parser.add_argument("--acknowledge", action="store_true", help="restart the watch with the next run")
    parser.add_argument("--json", action="store_true", help="print what the watch found as JSON")
    return parser


def _series(runs: Sequence[Run], *, by_category: bool) -> Iterator[RunSeries]:
    points = [_points_of(run.results.results) for run in runs]
    for model, category in sorted({name for own in points for name in own}):
        if category == "" or by_category:
            yield RunSeries(model, category or "all", tuple(own.get((model, category)) for own in points))


def _points_of(results: Sequence[Result]) -> dict[tuple[str, str], Rate]:
    """The number of right and of all answers, by model and category; the category `""` covers all."""
    answers: dict[tuple[str, str], list[bool]] = {}
    for result in results:
        if result.answered:
            for category in ("", result.category):
                answers.setdefault((result.model, category), []).append(result.right)
    return {name: Rate(sum(right), len(right)) for name, right in answers.items()}
