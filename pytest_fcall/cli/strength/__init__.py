"""`fcall strength`: would these cases notice the mistakes that models really make?"""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.project import existing_paths
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.result.exit_status import FAILED, INCONCLUSIVE, PASSED

if TYPE_CHECKING:
    from pytest_fcall.strength.figures import StrengthFigure, SuiteStrength

_USAGE: Final = 2
_MOST_NAMED: Final = 5
_SHARE: Final = re.compile(r"(?P<number>\d{1,3}(?:\.\d{1,6})?) ?(?P<percent>%?)")
_EXAMPLES: Final = """\
examples:
  fcall strength                              all cases that `pytest` would run
  fcall strength cases/shop.fc.yaml -k cabin  some cases of a file
  fcall strength --min=90% cases              for CI: 1 below that
  fcall strength --all cases                  every mistake that passes

Right answers are made of what the cases expect. Each is changed by one mistake as models make them, and judged as in a
run. No model is asked.

Exit codes: 0, measured; 1, below --min or --min-case, a case with a fault, or one that refuses its own right answer;
2, wrong command line; 10, nothing could be measured, or only a run can decide about --min.
"""


def run(arguments: Sequence[str]) -> int:
    """Measure the cases, print the report, and return the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    existing_paths(parser, options.paths)
    from pytest_fcall.cli.pytest_run import run_pytest_offline
    from pytest_fcall.cli.strength.plugin import StrengthMeter

    meter = StrengthMeter(options.model)
    chosen = [part for option, value in (("-k", options.k), ("-m", options.m)) if value for part in (option, value)]
    _, output = run_pytest_offline(["--collect-only", "-q", *chosen, *options.paths], meter)
    root = meter.root
    if root is None or meter.problems:
        print("\n\n".join(meter.problems) or output, file=sys.stderr)
        return FAILED if meter.problems else _USAGE
    if not (meter.cases or meter.faulty):
        if meter.collected:
            parser.error(f"no case matches {' '.join(chosen)}, of {plural_text(meter.collected, 'case')}")
        parser.error("no cases: their files end in .fc.yaml, or are YAML files that fc_files names")
    from pytest_fcall.strength.figures import SuiteStrength

    suite = SuiteStrength(meter.cases)
    if options.format == "json":
        from pytest_fcall.cli.strength.report import report_json

        print(json.dumps(report_json(suite, root), indent=2))
    else:
        _print_text(suite, root, everything=options.all)
    if meter.faulty:
        named = ", ".join(meter.faulty[:_MOST_NAMED]) + (" …" if meter.faulty[_MOST_NAMED:] else "")
        why = f"{plural_text(len(meter.faulty), 'case')} with faults: see `fcall lint` ({named})"
        print(safe_line(why), file=sys.stderr)
    return max(FAILED if meter.faulty else PASSED, _status(suite, options.min, options.min_case), key=_gravity)


def _parser() -> ArgumentParser:
    parser = command_parser(
        "strength", "Make mistakes in right answers, and see which of them cases notice.", _EXAMPLES
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="case files and folders (default: those that pytest would run)"
    )
    parser.add_argument("-k", metavar="EXPRESSION", help="the cases that match, as for pytest")
    parser.add_argument("-m", metavar="MARKERS", help="the cases with these tags, as for pytest")
    parser.add_argument("--min", type=_share, metavar="SHARE", help="the least strength of all cases, such as 90%%")
    parser.add_argument("--min-case", type=_share, metavar="SHARE", help="the least strength of each case")
    parser.add_argument("--all", action="store_true", help="show every mistake that passes, and every case")
    parser.add_argument(
        "--model",
        metavar="KIND:NAME",
        help="take values that the case leaves open from accepted answers of this model (default: the configured one)",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="the output format (default: text)")
    return parser


def _share(text: str) -> float:
    found = _SHARE.fullmatch(text.strip())
    number = float(found["number"]) / (100 if found["percent"] else 1) if found else 2.0
    if not 0 <= number <= 1:
        raise ArgumentTypeError(f"must be a share such as 90% or 0.9, not {text!r}")
    return number


def _print_text(suite: SuiteStrength, root: object, *, everything: bool) -> None:
    from pathlib import Path

    from pytest_fcall.cli.strength.report import last_line, report_lines
    from pytest_fcall.reporting.terminal import table_width

    for line in report_lines(suite, Path(str(root)), table_width(sys.stdout, 80), everything=everything):
        print(line)
    print(last_line(suite))


def _status(suite: SuiteStrength, least: float | None, least_case: float | None) -> int:
    """1 where a figure is too low whatever a run would decide, 10 where nothing is measured or a run must decide."""
    from pytest_fcall.strength.figures import StrengthFigure

    if any(each.strength.contradiction for each in suite.cases):
        return FAILED
    if not suite.mutated:
        return INCONCLUSIVE
    found = [_held(StrengthFigure.of(suite.tally), least)]
    found += [_held(StrengthFigure.of(each.strength.tally), least_case) for each in suite.mutated]
    return max(found, key=_gravity)


def _held(figure: StrengthFigure, least: float | None) -> int:
    if least is None or figure.low >= least - 1e-9:
        return PASSED
    return FAILED if figure.high < least - 1e-9 else INCONCLUSIVE


def _gravity(status: int) -> int:
    return (PASSED, INCONCLUSIVE, FAILED).index(status)
