"""`fcall plan`: what a suite sees, and how many cases and answers it takes to see a certain drop."""

from __future__ import annotations

import json
import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_fcall.cli.command_parser import command_parser, percentage, whole_number
from pytest_fcall.cli.project import root_of
from pytest_fcall.cli.runs import check_model_glob
from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.reporting.plan import plan_lines, plan_to_json
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.result.kept_runs import Run, find_runs
from pytest_fcall.session.result.plan import MOST_CASES, MeasuredSuite, plan_of, suites_of
from pytest_fcall.tracking.history import MOST_RUNS
from pytest_fcall.tracking.run_file import run_paths

_EXAMPLES = """\
examples:
  fcall plan --drop 5%                           what a run sees of a drop of 5 points, and what it takes to see it
  fcall plan --drop 2% --power 80% cases/pay     the cases of a folder alone
  fcall plan --drop 5% --level 5%                with a gate significant(0.05)
  fcall plan --drop 5% --cases 200 --samples 3   a suite that is not there yet, of cases like yours
  fcall plan --drop 5% --runs artifacts          with the runs of a folder, such as artifacts of CI

How often each case is right, and how steadily, is taken from baselines and kept runs. No model is asked.
"""


def run(arguments: Sequence[str]) -> int:
    """Print plans; 1 where nothing is measured and no number of cases is given."""
    parser = _parser()
    options = parser.parse_args(arguments)
    for path in (*options.paths, *options.runs):
        if not path.exists():
            parser.error(f"no such file or folder: {safe_line(str(path))}")
    root = root_of([Path.cwd()])
    found = find_runs(options.runs or run_paths(root)[-2 * MOST_RUNS :], MOST_RUNS)
    for reason in found.unread:
        print(f"fcall plan: {safe_line(reason)}", file=sys.stderr)
    check_model_glob(parser, options.model, found.runs)
    runs = [_narrowed(each, [path.absolute() for path in options.paths], root) for each in found.runs]
    suites = [each for each in suites_of(runs, root) if glob_matches(options.model, each.model) and each.cases]
    if not suites and options.cases is None:
        print(
            "fcall plan: nothing is measured of these cases: run `pytest --fc-samples=5` once, then `fcall accept`;\n"
            "or give a number of cases (--cases), for a plan that assumes what is usual",
            file=sys.stderr,
        )
        return 1
    suites = suites or [MeasuredSuite("any model", ())]
    if large := next((each for each in suites if (options.cases or len(each.cases)) > MOST_CASES), None):
        parser.error(f"{safe_line(large.model)}: more than {MOST_CASES:,} cases; name a part of them, or --cases")
    plans = [
        plan_of(each, options.drop, options.power, cases=options.cases, samples=options.samples, level=options.level)
        for each in suites
    ]
    if options.json:
        print(json.dumps(plan_to_json(plans), indent=2))
    else:
        print(*plan_lines(plans, shutil.get_terminal_size((100, 24)).columns), sep="\n")
    return 0


def _narrowed(run: Run, paths: Sequence[Path], root: Path) -> Run:
    """The run with the results of the case files that are named, or lie in folders that are."""
    if not paths:
        return run

    def is_named(result: Result) -> bool:
        file = root / result.file
        return any(file == path or file.is_relative_to(path) for path in paths)

    kept = {each.nodeid for each in run.results.results if is_named(each)}
    named = [row for row in run.file.rows if isinstance(row, dict) and row["nodeid"] in kept]
    results = tuple(each for each in run.results.results if each.nodeid in kept)
    file = run.file._replace(results={**run.file.results, "results": named})
    return replace(run, file=file, results=replace(run.results, results=results))


def _parser() -> ArgumentParser:
    parser = command_parser("plan", "Say what a run sees of a drop, and what it takes to see it.", _EXAMPLES)
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="case files and folders of them (default: all)"
    )
    parser.add_argument("--drop", type=percentage, required=True, metavar="5%", help="the drop in accuracy to be seen")
    parser.add_argument(
        "--power",
        type=percentage,
        default=0.9,
        metavar="90%",
        help="the share of runs that are to see it (default: 90%%)",
    )
    parser.add_argument(
        "--level", type=percentage, metavar="5%", help="plan with a gate significant of this level (default: the run's)"
    )
    parser.add_argument("--model", default="*", metavar="GLOB", help="only models whose names match")
    parser.add_argument(
        "--cases", type=whole_number(MOST_CASES), metavar="N", help="a suite of so many cases like these"
    )
    parser.add_argument(
        "--samples", type=whole_number(50), default=1, metavar="N", help="answers a case in a run (default: 1)"
    )
    parser.add_argument(
        "--runs", type=Path, nargs="+", default=[], metavar="PATH", help="run files and folders (default: .fcall/runs)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser
