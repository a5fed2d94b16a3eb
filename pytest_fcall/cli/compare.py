"""`fcall compare`: two runs paired case by case, with a significance test for each model."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.runs import open_runs
from pytest_fcall.reporting.run_comparison import comparison_lines
from pytest_fcall.session.result.compared_runs import compare_runs

_MOST_CASES = 20

_EXAMPLES = """\
examples:
  fcall compare                                  the last two runs
  fcall compare 20261120-1412                    this run with the last one
  fcall compare main.json branch.json            two files, such as artifacts of two CI jobs

RUN is the path of a run file, or the beginning of its name in .fcall/runs, where pytest records each run. Exit code 1:
a model is significantly worse in the second run (p at most 0.05).
"""


def run(arguments: Sequence[str]) -> int:
    """Print the comparison; 1 where a model is significantly worse in the second run."""
    parser = command_parser("compare", "Compare two runs case by case.", _EXAMPLES)
    parser.add_argument("runs", nargs="*", metavar="RUN", help="a run file, or the beginning of its name")
    parser.add_argument(
        "--all", action="store_true", help=f"list all lost and won cases, not only {_MOST_CASES} of each"
    )
    options = parser.parse_args(arguments)
    if len(options.runs) > 2:
        parser.error("only two runs can be compared")
    before, now = open_runs(parser, options.runs, least=2)
    comparison = compare_runs(before, now)
    width = shutil.get_terminal_size((100, 24)).columns
    print(*comparison_lines(comparison, width, None if options.all else _MOST_CASES), sep="\n")
    return int(any(model.difference < 0 and model.is_significant for model in comparison.models))
