"""`fcall accept`: verdicts of a run become the baseline, and no model is asked again."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.cli.accepting import Accepting
from pytest_fcall.cli.by_hand import chosen_by_hand
from pytest_fcall.cli.project import root_of
from pytest_fcall.cli.runs import open_runs
from pytest_fcall.core import Outcome

ONLY = (Outcome.FIXED, Outcome.NEW, Outcome.DRIFTED)

_EXAMPLES = """\
examples:
  fcall accept                                   what was right in the last run
  fcall accept --only fixed                      only what was mended
  fcall accept oslo 'paris-*'                    only these cases
  fcall accept run.json                          a run from elsewhere, such as one that CI has kept
  fcall accept -i                                one after the other, by hand
  fcall accept --failing oslo --because "the model knows no Norwegian"

A case is named by its id, its node id or its file; `*` stands for any characters. What is accepted goes into
__fcall__/MODEL/ beside the case file; commit it, and later runs are compared with it.
"""


def run(arguments: Sequence[str]) -> int:
    """Accept; 1 where something that was named cannot be accepted, or a file cannot be written."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if bool(options.failing) != bool(options.because):
        parser.error("--failing wants to know why, and --because wants failures: give both")
    files = [name for name in options.names if name.endswith(".json")]
    names = [name for name in options.names if name not in files]
    if len(files) > 1:
        parser.error(f"one run is accepted at a time, not {' and '.join(files)}")
    (opened,) = open_runs(parser, files, newest=1)
    accepting = Accepting(root_of([Path.cwd()]), opened)
    only_failing = options.failing and not (names or options.only)
    right = [] if only_failing else accepting.right(names, options.only)
    failing = accepting.failing(options.failing)
    accepting.accept(chosen_by_hand(right) if options.by_hand else right)
    accepting.accept(failing, options.because)
    if not (right or failing or accepting.status):
        print("nothing to accept")
    return accepting.status


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall accept",
        description="Take verdicts of a run into the baseline. No model is asked.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "names", nargs="*", metavar="CASE|RUN.json", help="cases (default: all), and a run (default: the last one)"
    )
    parser.add_argument("--only", type=_outcomes, metavar="OUTCOMES", help=f"of {', '.join(ONLY)}, separated by commas")
    parser.add_argument("--failing", nargs="+", default=[], metavar="CASE", help="cases to take as known failures")
    parser.add_argument("--because", metavar="TEXT", help="why they fail: shown in every run")
    parser.add_argument("-i", dest="by_hand", action="store_true", help="show and ask for each case")
    return parser


def _outcomes(text: str) -> tuple[Outcome, ...]:
    words = [word.strip() for word in text.split(",")]
    if unknown := [word for word in words if word not in ONLY]:
        raise ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(ONLY)}")
    return tuple(map(Outcome, words))
