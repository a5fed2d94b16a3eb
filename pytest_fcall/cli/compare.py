"""`fcall compare`: what changed between two runs, and whether chance alone may have it so."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence

from pytest_fcall.cli.comparing import SIGNIFICANT, compare
from pytest_fcall.cli.runs import open_runs
from pytest_fcall.reporting.comparison import comparison_lines

_EXAMPLES = """\
examples:
  fcall compare                                  the last run with the one before it
  fcall compare 20261120-1412                    the last run with this one
  fcall compare main.json branch.json            two files, say from two jobs of CI

Each run of pytest is kept in .fcall/runs below the root folder; a run is named by the beginning of its name there, or
by a path. Exit code 1 says that the second run is worse, and that chance does not explain it (p at most 0.05).
"""


def run(arguments: Sequence[str]) -> int:
    """Print the comparison; 1 where the second run is significantly worse."""
    parser = ArgumentParser(
        prog="fcall compare",
        description="Compare two runs case by case.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("runs", nargs="*", metavar="RUN", help="a run's file, or the beginning of its name")
    parser.add_argument("--all", action="store_true", help="list every case that was lost or won, not only 20 each")
    options = parser.parse_args(arguments)
    if len(options.runs) > 2:
        parser.error("two runs are compared, not more")
    before, now = open_runs(parser, options.runs, newest=2)
    comparison = compare(before, now)
    width = shutil.get_terminal_size((100, 24)).columns
    print(*comparison_lines(comparison, width, None if options.all else 20), sep="\n")
    whole = comparison.whole
    return int(whole.difference < 0 and whole.chance <= SIGNIFICANT)
