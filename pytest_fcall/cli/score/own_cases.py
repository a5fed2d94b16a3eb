"""`fcall score --cases PATH`: stored answers to cases of one's own, judged as a run of pytest judges them."""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.project import existing_paths
from pytest_fcall.cli.score.rows import add_column_option, check_readable
from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.result.exit_status import FAILED, INCONCLUSIVE, PASSED

if TYPE_CHECKING:
    from pytest_fcall.cli.score.own_cases_plugin import OwnCases
    from pytest_fcall.cli.score.stored_answers import StoredAnswers

_MOST_NAMED: Final = 5
_NO_TESTS: Final = 5
"""The exit status of pytest where no case is left."""
_EXAMPLES: Final = """\
examples:
  fcall score --cases cases answers.jsonl                        answers by the ids of cases
  fcall score --cases cases/shop.fc.yaml logs/run.eval           the samples of a log of inspect_ai
  fcall score --cases cases --format json answers.jsonl          an object for each answer

A row of a JSON Lines file is {"id": the id of a case, "reply": what an app may return: a text, calls, or messages}; or
it has `replies`, those of a conversation in order. Files of recorded replies (*.replies.jsonl) and logs of inspect_ai
are read, too. Nothing is asked, and nothing is recorded.

Exit codes: 0, all are right; 1, an answer is wrong or cannot be read; 10, a case has no answer.
"""


def run_own_cases(arguments: Sequence[str], formats: Sequence[str]) -> int:
    """Judge the answers, and return the exit status of the run."""
    parser = _parser(formats)
    options = parser.parse_args(arguments)
    existing_paths(parser, [options.cases])
    check_readable(parser, options.rows)
    from pytest_fcall.cli.score.own_cases_plugin import KIND, OwnCases
    from pytest_fcall.cli.score.stored_answers import read_answers

    answers = read_answers(options.rows, options.json_columns)
    judged = OwnCases(answers)
    once = ["--fc-samples=1", "--fc-confirm=0", "--fc-vary=off"]
    run = ["-o", "fc_runs=0", "-o", "fc_proxy=off", "--fc-record=off", *once]
    arguments = [f"--fc-model={KIND}:{_label(options.rows)}", *run, options.cases]
    is_json = options.format == "json"
    status, output = _run(judged, arguments, captured=is_json)
    for row in judged.rows if is_json else ():
        print(json.dumps(row))
    if judged.cases is None or judged.problems:
        if is_json:  # else pytest has shown them
            print("\n\n".join(judged.problems) or output, file=sys.stderr)
        return FAILED if judged.problems else 2
    if not judged.cases:
        parser.error(f"no cases in {options.cases}")
    for line in _lines(answers, judged):
        print(safe_line(line), file=sys.stderr)
    return _exit_status(status, answers, judged)


def _parser(formats: Sequence[str]) -> ArgumentParser:
    parser = command_parser("score", "Judge stored answers to your own cases, as a run of pytest would.", _EXAMPLES)
    parser.add_argument(
        "rows",
        nargs="+",
        metavar="ANSWERS",
        help="answers as JSON Lines, also gzipped, or Parquet: a path, or an address such as s3://bucket/name; - reads "
        "stdin; or logs",
    )
    add_column_option(parser)
    parser.add_argument("--cases", required=True, metavar="PATH", help="a case file, or a folder of them")
    parser.add_argument(
        "--format", choices=formats, default=formats[0], help=f"what is printed (default: {formats[0]})"
    )
    return parser


def _label(files: Sequence[str]) -> str:
    """The name that the answers have as a model: that of their file."""
    name = Path(files[0]).name.partition(".")[0] if files[0] != "-" else "stdin"
    return re.sub(r"[^\w-]+", "_", name) or "answers"


def _run(plugin: OwnCases, arguments: Sequence[str], *, captured: bool) -> tuple[int, str]:
    if captured:
        from pytest_fcall.cli.pytest_run import run_pytest_offline

        return run_pytest_offline(arguments, plugin)
    import pytest

    from pytest_fcall.core.provider_variables import with_placeholder_keys

    with with_placeholder_keys():
        status = pytest.main(["--no-header", "--assert=plain", "-p", "no:cacheprovider", *arguments], plugins=[plugin])
    return int(status), ""


def _exit_status(status: int, answers: StoredAnswers, judged: OwnCases) -> int:
    if status not in (PASSED, INCONCLUSIVE, _NO_TESTS):
        return status
    if answers.broken:
        return FAILED
    is_open = judged.unanswered or judged.undecided or judged.unused or status != PASSED
    return INCONCLUSIVE if is_open else PASSED


def _lines(answers: StoredAnswers, judged: OwnCases) -> Iterator[str]:
    """The rows that could not be judged, and why."""
    yield from answers.broken
    for id_, places in answers.clashes.items():
        yield f"{id_}: {len(places)} different answers, none of which is judged ({_listed(places)})"
    for id_, reason in judged.unknown.items():
        yield f"{answers.by_id[id_].place}: {id_}: {reason}"
    if answers.repeated:
        yield f"{plural_text(answers.repeated, 'answer')} stored more than once, and judged once"
    if judged.unanswered:
        yield f"{plural_text(len(judged.unanswered), 'case')} without an answer: {_listed(judged.unanswered)}"
    if judged.unused:
        yield f"{plural_text(len(judged.unused), 'case')} ended before the last stored reply: {_listed(judged.unused)}"
    for reason, cases in judged.undecided.items():
        yield f"{plural_text(len(cases), 'case')} not judged, since {reason}: {_listed(cases)}"


def _listed(names: Iterable[str]) -> str:
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return f"{', '.join(found[:_MOST_NAMED])}{more}"
