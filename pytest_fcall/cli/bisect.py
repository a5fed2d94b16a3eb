"""`fcall bisect`: the smallest set of edits that makes cases fail."""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.cli.command_parser import command_parser, whole_number
from pytest_fcall.cli.project import existing_paths, root_of

if TYPE_CHECKING:
    from pytest_fcall.cli.bisect_plugin import BisectPlugin

_DEFAULT_REQUESTS = 100

_EXAMPLES = """\
examples:
  fcall bisect                                          the cases that regressed in the last run
  fcall bisect cases/shop.fc.yaml::find                 this case, from the accepted question to today's
  fcall bisect cases/shop.fc.yaml --from=git:main       from the files as they are at a revision
  fcall bisect --from-model=openai:gpt-5.1              from another model
  fcall bisect --dry-run                                show the edits and the plan, and ask nothing
  fcall bisect --yes --max-requests=40                  ask without a question, at most 40 requests
  fcall bisect --fc-replay                              use recordings and nothing else

Lists the edits between the accepted question and today's, and asks questions with some of them until it is known which
make a case fail. Recorded replies are used first. Before a model is asked, the plan is shown.

exit status: 0 found; 1 nothing to bisect; 2 wrong command line; 10 not decided, as replies are missing.
"""


def run(arguments: Sequence[str]) -> int:
    """Search the edits; see the exit status above."""
    parser = _parser()
    options = parser.parse_args(arguments)
    names = options.cases or _regressed(parser)
    if not names:
        print("fcall bisect: no case regressed in the last run; name cases, as in cases/shop.fc.yaml::find")
        return 1
    paths = existing_paths(parser, [name.partition("::")[0] for name in names])
    with ExitStack() as stack:
        plugin = _plugin(parser, options, root_of(paths), paths, stack)
        return _run(plugin, options, names)


def _parser() -> ArgumentParser:
    parser = command_parser("bisect", "Find the smallest set of edits that makes cases fail.", _EXAMPLES)
    parser.add_argument(
        "cases", nargs="*", metavar="FILE[::ID]", help="cases (default: those that regressed in the last run)"
    )
    parser.add_argument(
        "--from",
        dest="origin",
        default="",
        metavar="git:REV",
        help="the revision with the old question (default: the accepted question, as recordings have it)",
    )
    parser.add_argument("--from-model", metavar="KIND:NAME", help="the model that was asked before")
    parser.add_argument(
        "--max-requests",
        type=whole_number(1_000_000),
        default=_DEFAULT_REQUESTS,
        metavar="N",
        help=f"most requests that are sent (default: {_DEFAULT_REQUESTS})",
    )
    parser.add_argument("--yes", action="store_true", help="ask models without a question on the terminal")
    parser.add_argument("--dry-run", action="store_true", help="show the edits and the plan, and ask nothing")
    parser.add_argument(
        "--each", action="store_true", help="ask for each edit alone, too, so that the table has no gaps"
    )
    parser.add_argument(
        "--samples",
        choices=("auto", "1"),
        default="auto",
        help="auto: ask as often as it takes to exclude chance (default); 1: take one answer to each question",
    )
    parser.add_argument("--patch", type=Path, metavar="FILE", help="write the patch that undoes the edits")
    parser.add_argument("--fc-model", action="append", default=[], metavar="KIND:NAME", help="the model of today")
    parser.add_argument("--fc-judge", metavar="KIND:NAME", help="the model that judges where a case says $judge")
    parser.add_argument("--fc-max-cost", metavar="DOLLARS", help="ask nothing that might cost more in all")
    parser.add_argument("--fc-replay", action="store_true", help="use recorded replies and nothing else")
    return parser


def _regressed(parser: ArgumentParser) -> list[str]:
    """The cases that regressed in the last run, as they are named on the command line, from any folder."""
    from pytest_fcall.cli.runs import open_runs
    from pytest_fcall.core.verdict import Outcome

    (opened,) = open_runs(parser, [], least=1)
    wanted = (Outcome.REGRESSED, Outcome.UNDECIDED)
    root = root_of([Path.cwd()])
    return [str(root / each.nodeid) for each in opened.results.results if each.outcome in wanted]


def _plugin(
    parser: ArgumentParser, options: Namespace, root: Path, paths: Sequence[Path], stack: ExitStack
) -> BisectPlugin:
    from pytest_fcall.cli.bisect_plugin import BisectPlugin
    from pytest_fcall.plugin.suspects import OldSide, StoredSide

    side: OldSide = StoredSide(root)
    if options.origin:
        from pytest_fcall.cli.revision_side import RevisionSide

        if not options.origin.startswith("git:"):
            parser.error(f"--from: {options.origin!r} must be git:REVISION, such as git:main")
        try:
            side = stack.enter_context(RevisionSide.at(options.origin.removeprefix("git:"), root, paths))
        except ValueError as error:
            parser.error(f"--from: {error}")
    return BisectPlugin(options, side, sys.stdout, shutil.get_terminal_size((80, 24)).columns)


def _run(plugin: BisectPlugin, options: Namespace, names: Sequence[str]) -> int:
    import pytest

    from pytest_fcall.cli.pytest_run import run_pytest

    given = [f"--fc-model={model}" for model in options.fc_model]
    given += [f"--fc-judge={options.fc_judge}"] if options.fc_judge else []
    given += [f"--fc-max-cost={options.fc_max_cost}"] if options.fc_max_cost else []
    # Whether anything is asked is decided when the plan is shown; recordings count however old they are.
    given += ["--fc-replay"] if options.fc_replay else ["--fc-live", "--fc-max-age=none"]
    status, output = run_pytest(["-o", "fc_runs=0", *given, *names], plugin)
    if plugin.failure:
        raise plugin.failure
    if plugin.status is None:
        print(output, file=sys.stderr)
        return 2 if status == pytest.ExitCode.USAGE_ERROR else 1
    return plugin.status
