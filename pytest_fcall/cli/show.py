"""`fcall show`: what was asked and answered in a run, case by case."""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.runs import check_model_glob, open_runs
from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.json_data import DamagedData
from pytest_fcall.core.message_text import did_you_mean
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep, account_from_json
from pytest_fcall.reporting.account_text import account_lines
from pytest_fcall.reporting.app_lines import with_known_ways
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import Marks, marks_for
from pytest_fcall.session.result.case_rows import case_lines, differing_lines
from pytest_fcall.session.result.kept_runs import Run
from pytest_fcall.tracking.run_accounts import accounts_path, read_accounts
from pytest_fcall.tracking.stanza import parse_stanza

_MOST_LISTED = 20

_EXAMPLES = """\
examples:
  fcall show                                     all cases of the last run, a line each
  fcall show celsius                             everything about one of them
  fcall show cases/weather.fc.yaml::celsius      the same, by its node id
  fcall show celsius --model '*gpt*'             under the models whose names match
  fcall show celsius --run 20261120-1412         in another run
  fcall show --differing                         the cases that one model has right and another wrong

CASE is a node id, an id, or any part of one that only one case has. RUN is the path of a run file, or the beginning of
its name in .fcall/runs, where pytest records each run. What a case would send now is shown by `fcall prompt`.
"""


def run(arguments: Sequence[str]) -> int:
    """Print a case, or a table of all; 1 where there is no such case."""
    parser = _parser()
    options = parser.parse_args(arguments)
    (opened,) = open_runs(parser, [options.run] if options.run else [], least=1)
    check_model_glob(parser, options.model, [opened])
    known = with_known_ways(opened.results.results)
    results = [each for each in known if glob_matches(options.model, each.model)]
    width, marks = shutil.get_terminal_size((100, 24)).columns, marks_for(sys.stdout.encoding)
    if options.case is None:
        lines = differing_lines(results, width, marks, None) if options.differing else case_lines(results, width, marks)
        print(*(lines or ["no such case"]), sep="\n")
        return 0
    matches = results_of(options.case, results)
    cases = list(dict.fromkeys((each.file, each.case) for each in matches))
    if len(cases) == 1:
        print(*_shown(opened, matches, marks), sep="\n")
        return 0
    print(_not_one(options.case, cases, results, opened), file=sys.stderr)
    return 1


def _parser() -> ArgumentParser:
    parser = command_parser("show", "Show what was asked and answered in a run, passing cases too.", _EXAMPLES)
    parser.add_argument("case", nargs="?", metavar="CASE", help="the case (default: a table of all cases)")
    parser.add_argument("--model", default="*", metavar="GLOB", help="only models whose names match")
    parser.add_argument("--run", metavar="RUN", help="the run (default: the last one)")
    parser.add_argument(
        "--differing", action="store_true", help="only cases that one model has right and another wrong"
    )
    return parser


def results_of(name: str, results: Sequence[Result]) -> list[Result]:
    """The results that a name means: those of that very case, else those whose node ids end in it, or contain it."""
    rules = (
        lambda result: name in (result.case, result.nodeid, _case_node(result)),
        lambda result: _case_node(result).endswith(name) or result.nodeid.endswith(name),
        lambda result: name in result.nodeid,
    )
    return next((found for rule in rules if (found := [each for each in results if rule(each)])), [])


def _case_node(result: Result) -> str:
    """The node id without the model."""
    return f"{result.file}::{result.case}"


def _not_one(name: str, cases: Sequence[tuple[str, str]], results: Sequence[Result], opened: Run) -> str:
    """The message for a name that matches no case, or several."""
    shown = safe_line(name)
    if not cases:
        known = dict.fromkeys(case for result in results for case in (result.case, _case_node(result)))
        hint = did_you_mean(name, known) or "`fcall show` lists all"
        return f"fcall show: no case {shown!r} in the run {opened.file.id}; {hint}"
    listed = [f"  {safe_line(file)}::{safe_line(case)}" for file, case in cases[:_MOST_LISTED]]
    more = [f"  and {len(cases) - _MOST_LISTED:,} more"] if len(cases) > _MOST_LISTED else []
    return "\n".join([f"fcall show: {len(cases):,} cases match {shown!r}:", *listed, *more])


def _shown(opened: Run, results: Sequence[Result], marks: Marks) -> list[str]:
    """The accounts of one case under each of its models."""
    wanted = {result.nodeid for result in results}
    accounts = read_accounts(accounts_path(opened.path))
    kept = {nodeid: each for nodeid, each in accounts if nodeid in wanted}  # of one that was run again, the last
    lines: list[str] = []
    for result in results:
        account = _account(kept.get(result.nodeid), result)
        lines += ["", *account_lines(account, result, marks)] if lines else account_lines(account, result, marks)
    return [f"run {opened.file.id}, {opened.file.started.replace('T', ' ')[:16]}", *lines]


def _account(kept: Mapping[str, Json] | None, result: Result) -> Account:
    """The account of a case; where it is not kept, the calls and reasons that are kept with the result."""
    if kept is not None:
        try:
            return account_from_json(kept)
        except DamagedData as damaged:
            return Account(result.nodeid, error=f"the account is damaged: {damaged}")
    missing = "the question and the text of the answer are kept for the last runs of this machine only"
    try:
        stanza = parse_stanza(result.stanza) if result.stanza else None
    except ValueError:
        stanza = None
    if stanza is None:
        return Account(result.nodeid, error=missing)
    steps = (AskedStep((), stanza.calls or (), text=stanza.answer or ""),)
    reasons = tuple((kind, path, "") for kind, path in result.reasons)
    return Account(result.nodeid, (AccountAnswer(stanza.valid, steps, reasons, notes=(missing,)),))
