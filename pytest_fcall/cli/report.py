"""`fcall report`: files about runs that are kept."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.cli.command_parser import command_parser, whole_number
from pytest_fcall.cli.project import root_of
from pytest_fcall.cli.runs import run_path
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.endings import SettingError
from pytest_fcall.session.result.kept_runs import load_run
from pytest_fcall.session.result.report_files import KINDS, parse_report, report_text, write_report, writer_of
from pytest_fcall.session.result.run_report import MOST_EARLIER, report_of
from pytest_fcall.suites.builtin import SUITES
from pytest_fcall.tracking.run_file import RunFileError, run_paths

_MOST_COMPARED = 5
"""So many of the runs that are named are held beside the last one, case by case."""
_EXAMPLES = f"""\
examples:
  fcall report -o report.md                      the last run, for a comment on a pull request
  fcall report                                   the same, on the terminal
  fcall report 20261120-1412 -o csv:answers.txt  another run, as a table
  fcall report merged.json -o report.md          a merged run, or one that another machine wrote
  fcall report old.json new.json -o report.md    the last of several runs; the others are those before it

RUN is the path of a run file, or the beginning of its name in .fcall/runs, where pytest records each run.
PATH says by its suffix what is written, or KIND:PATH names it:
{chr(10).join(f"  {name:7} {kind.suffix:6} {kind.title}" for name, kind in KINDS.items())}
"""


def run(arguments: Sequence[str]) -> int:
    """Write the reports; 1 where a file cannot be written."""
    parser = _parser()
    options = parser.parse_args(arguments)
    recorded = run_paths(root_of([Path.cwd()]))
    named = [run_path(parser, name, recorded) for name in options.runs] or recorded[-options.last :]
    if not named:
        parser.error("a run is needed, and .fcall/runs holds none: run pytest first")
    earlier = named[:-1] or [path for path in recorded if path.name < named[-1].name]
    try:
        files = [parse_report(text, Path.cwd()) for text in options.output or ["md"]]
        compared = min(max(len(named) - 1, 1), _MOST_COMPARED)
        report = report_of(load_run(named[-1]), earlier[-MOST_EARLIER:], SUITES, compared)
    except (SettingError, RunFileError) as error:
        parser.error(safe_line(str(error)).removeprefix("--fc-report: "))
    for file in files:
        writer = writer_of(file.kind, {})
        if file.path is None:
            sys.stdout.write(report_text(report, writer))
        else:
            print(*(safe_line(str(path)) for path in write_report(file, report, writer)), sep="\n")
    return 0


def _parser() -> ArgumentParser:
    parser = command_parser("report", "Write files about a run: what it concludes, and every case.", _EXAMPLES)
    parser.add_argument("runs", nargs="*", metavar="RUN", help="a run (default: the last one)")
    parser.add_argument(
        "-o", "--output", action="append", metavar="PATH", help="a file to write; may be repeated (default: md)"
    )
    parser.add_argument(
        "--last",
        type=whole_number(MOST_EARLIER),
        default=1,
        metavar="N",
        help="the last N runs: the others come before",
    )
    return parser
