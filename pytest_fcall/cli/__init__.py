"""The command line `fcall`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from keyword import iskeyword
from types import MappingProxyType

__all__ = ["main"]

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "accept": "take verdicts of a run into the baseline",
        "compare": "tell what changed between two runs, and whether by chance",
        "fill": "write down what a model calls, in cases that expect nothing yet",
        "history": "show accuracy over the runs that are kept",
        "import": "make case files of a public benchmark, or of traces",
        "init": "start a folder of cases that is green at once",
        "lint": "check case files without running them",
        "merge": "join the runs of all shares, and judge them as one",
        "mv": "rename what is accepted of a case or a case file",
        "prompt": "show what a model would be told for a case",
        "proxy": "start an app whose requests to models are recorded by the runs that ask it",
        "record": "carry recorded replies to version control and back, or forget old ones",
        "schema": "write the JSON Schema of case files, for editors",
        "score": "judge stored answers",
        "suites": "list public benchmarks and their parts",
        "tools": "lock, compare, list and cover the tools of case files",
    }
)
"""Each has a module of its name with a `run(arguments) -> int`, imported only when it is asked for."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. 0: all is well; 1: something was found; 2: the command line is wrong."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except SystemExit as leaving:  # argparse has said why
        return leaving.code if isinstance(leaving.code, int) else 0
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        _drop_output()
        return 1
    except OSError as error:  # a full disk, a drive that went away
        print(f"fcall: {error.strerror}{f': {error.filename}' if error.filename else ''}", file=sys.stderr)
        _drop_output()
        return 1
    return status


def _drop_output() -> None:
    """Let what is still to be written go nowhere: it could not be written, and would be tried once more at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    parser = _parser()
    command = parser.parse_args(arguments[:1]).command
    if command is None:
        parser.print_help()
        return 2
    if command not in COMMANDS:
        near = get_close_matches(command, COMMANDS, n=1)
        parser.error(f"there is no command {command!r}" + (f": did you mean {near[0]!r}?" if near else ""))
    run = import_module(f"pytest_fcall.cli.{command}{'_' if iskeyword(command) else ''}").run
    status: int = run(arguments[1:])
    return status


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    parser = argparse.ArgumentParser(
        prog="fcall",
        usage="fcall COMMAND …",
        description="Regression tests for the tool calls of language models.",
        epilog="commands:\n"
        + "".join(f"  {name:{width}}  {does}\n" for name, does in COMMANDS.items())
        + "\n`fcall COMMAND --help` tells more. The cases themselves are run by pytest.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and leave")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    return parser


class _Version(argparse.Action):
    """Looks the version up only when asked: the look-up is slow."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"pytest-fcall {version('pytest-fcall')}")
        parser.exit()
