"""`fcall tools`: lock, compare, list and cover the tools of case files."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Sequence

from pytest_fcall.cli.asking import Asker
from pytest_fcall.cli.project import open_project
from pytest_fcall.cli.tools_coverage import show_coverage
from pytest_fcall.cli.tools_diff import diff
from pytest_fcall.cli.tools_list import list_tools
from pytest_fcall.cli.tools_lock import lock

_HELP = """\
actions:
  lock   ask MCP servers and addresses for their tools, and keep the answers beside the case files
  diff   ask again, and say what changed since then and which cases it touches
  list   show the tools that case files offer to the model
  coverage
         show the tools, optional arguments and values of enums that no case names

examples:
  fcall tools lock cases/shop.fc.yaml     write cases/shop.tools.lock.json
  fcall tools diff                        1 if any source changed, 10 if none did but one could not be asked
  fcall tools list cases/shop.fc.yaml
  fcall tools coverage cases              1 if there is something that no case names

pytest reads the lock files alone: it starts no server and needs no network. Commit them. They hold no values of
headers and environment variables; in the case file write secrets as ${NAME}.
"""


def run(arguments: Sequence[str]) -> int:
    """Do one of the actions for all files."""
    parser = _parser()
    options = parser.parse_args(arguments)
    project = open_project(parser, options.paths)
    match options.action:
        case "lock":
            return lock(project, Asker(options.timeout))
        case "diff":
            return diff(project, Asker(options.timeout))
        case "coverage":
            return show_coverage(project)
        case _:
            return list_tools(project)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall tools",
        description="Lock, compare, list and cover the tools of case files.",
        epilog=_HELP,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "action", choices=("lock", "diff", "list", "coverage"), metavar="ACTION", help="lock, diff, list or coverage"
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="case files and folders (default: this folder)")
    parser.add_argument(
        "--timeout", type=_seconds, default=30.0, metavar="SECONDS", help="patience with each source (default: 30)"
    )
    return parser


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < float("inf"):
        raise ArgumentTypeError("must be a number above 0")
    return seconds
