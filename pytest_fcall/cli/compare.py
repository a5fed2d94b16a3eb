"""`fcall compare`: two runs, or two models, paired case by case, with a significance test for each model."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.runs import open_runs
from pytest_fcall.reporting.run_comparison import comparison_lines
from pytest_fcall.reporting.run_table import models_of
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import table_width
from pytest_fcall.session.result.compared_runs import compare_runs, of_one_model
from pytest_fcall.session.result.kept_runs import Run

_MOST_CASES = 20

_EXAMPLES = """\
examples:
  fcall compare                                  the last two runs
  fcall compare 20261120-1412                    this run with the last one
  fcall compare main.json branch.json            two files, such as artifacts of two CI jobs
  fcall compare --models gpt-5.2 gpt-5.3         two models of the last run
  fcall compare run.json --models gpt-5.2 opus   two models of another run

MODEL is the name of a model, or a part of it that no other one has.

RUN is the path of a run file, or the beginning of its name in .fcall/runs, where pytest records each run. Exit code 1:
a model is significantly worse in the second run, or the second model is worse (p at most 0.05).
"""


def run(arguments: Sequence[str]) -> int:
    """Print the comparison; 1 where a model is significantly worse in the second run."""
    parser = command_parser("compare", "Compare two runs, or two models of a run, case by case.", _EXAMPLES)
    parser.add_argument("runs", nargs="*", metavar="RUN", help="a run file, or the beginning of its name")
    parser.add_argument(
        "--all", action="store_true", help=f"list all lost and won cases, not only {_MOST_CASES} of each"
    )
    parser.add_argument("--models", nargs=2, metavar="MODEL", help="compare these two models of a run")
    options = parser.parse_args(arguments)
    before, now = _runs(parser, options.runs, options.models)
    comparison = compare_runs(before, now)
    width = table_width(sys.stdout, 100)
    print(*comparison_lines(comparison, width, None if options.all else _MOST_CASES), sep="\n")
    return int(any(model.difference < 0 and model.is_significant for model in comparison.models))


def _runs(parser: ArgumentParser, names: Sequence[str], models: Sequence[str] | None) -> Sequence[Run]:
    """Two runs, or the parts of a run that two models have answered."""
    if len(names) > (2 if models is None else 1):
        parser.error("only two runs can be compared" if models is None else "--models compares two models of one run")
    if models is None:
        return open_runs(parser, names, least=2)
    (run,) = open_runs(parser, names, least=1)
    found = [_model(parser, name, models_of(run.results.results)) for name in models]
    if found[0] == found[1]:
        parser.error(f"--models: {' and '.join(map(safe_line, models))} are the same model")
    return [of_one_model(run, model) for model in found]


def _model(parser: ArgumentParser, name: str, known: Sequence[str]) -> str:
    """The model of this name, or the only one that has it in its name."""
    found = [model for model in known if model == name] or [model for model in known if name in model]
    if len(found) != 1:
        problem = "no model of the run is called so" if not found else "several models are called so"
        parser.error(f"--models: {safe_line(name)}: {problem}; it has {', '.join(map(safe_line, known)) or 'none'}")
    return found[0]
