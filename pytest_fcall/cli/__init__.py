"""The command line `fcall`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from types import MappingProxyType

from pytest_fcall.cli.safe_output import safe_output

__all__ = ["main"]

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "accept": "accept results of a run into the baseline",
        "bisect": "find the edit of a prompt, a tool or a setting that makes cases fail",
        "board": "rank models of runs and stored answers, with what is known of their differences",
        "comment": "write the report of a run as a comment on a pull request",
        "compare": "compare two runs, with a significance test",
        "draft": "have a model write questions for tools, as drafts of cases",
        "export": "write training pairs of a public benchmark",
        "fill": "write the calls that a model makes into cases without an expectation",
        "history": "show accuracy over the recorded runs",
        "import": "write case files from a public benchmark or from traces",
        "init": "create a first set of cases that passes at once",
        "lint": "check case files without running them",
        "merge": "merge the runs of all shards and judge them as one run",
        "mv": "have what is kept follow a renamed case, file, tool, parameter or model",
        "plan": "say what a run sees of a drop, and how many cases and answers it takes",
        "prompt": "show what a model is sent for a case",
        "proxy": "start an app so that test runs record its model requests",
        "record": "export, load, prune and count recorded replies, and have them made elsewhere",
        "report": "write files about a run: a page, Markdown, JUnit and others",
        "report-bug": "pack a case, its reply and the verdict for a report about pytest-fcall",
        "schema": "write the JSON Schema of case files, for editors, or of run files",
        "score": "judge stored answers",
        "show": "show what was asked and answered in a run",
        "strength": "make mistakes in right answers, and see which of them cases notice",
        "suites": "list public benchmarks and their parts",
        "tools": "lock, list, lint and compare the tools of case files, and show their coverage",
    }
)
"""Each command is a module of its name with a `run(arguments) -> int`, imported only when it is used."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Return 0 for success, 1 for findings or failures, 2 for a wrong command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    arguments = list(sys.argv[1:] if argv is None else argv)
    with safe_output(arguments):
        return _status(arguments)


def _status(arguments: list[str]) -> int:
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except SystemExit as stop:  # argparse has printed the reason
        return stop.code if isinstance(stop.code, int) else 0
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        _discard_output()
        return 1
    except OSError as error:  # such as a full disk
        reason = error.strerror or str(error)
        print(f"fcall: {reason}{f': {error.filename}' if error.filename else ''}", file=sys.stderr)
        _discard_output()
        return 1
    return status


def _discard_output() -> None:
    """Send the rest of the output nowhere: Python would try once more to write it at exit.

    An output that a program has put in place of the standard one may have no descriptor.
    """
    with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    parser = _parser()
    command = parser.parse_args(arguments[:1]).command
    if command is None:
        parser.print_help()
        return 2
    if command not in COMMANDS:
        from pytest_fcall.core.message_text import clauses, did_you_mean

        parser.error(clauses(f"unknown command {command!r}", did_you_mean(command, COMMANDS)))
    run = import_module(f"pytest_fcall.cli.{command.replace('-', '_')}{'_' if iskeyword(command) else ''}").run
    status: int = run(arguments[1:])
    return status


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    parser = argparse.ArgumentParser(
        prog="fcall",
        usage="fcall COMMAND …",
        description="Regression tests for the tool calls of language models.",
        epilog="commands:\n"
        + "".join(f"  {name:{width}}  {summary}\n" for name, summary in COMMANDS.items())
        + "\n`fcall COMMAND --help` shows the options of a command. To run cases, use pytest.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    return parser


class _Version(argparse.Action):
    """Prints the version. It is looked up only then: the look-up is slow."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"pytest-fcall {version('pytest-fcall')}")
        parser.exit()
