"""`fcall lint`: the faults that pytest finds in case files at collection."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.project import existing_paths
from pytest_fcall.core.case import Fault
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.faults import fault_text, file_path_text

_EXAMPLES = """\
examples:
  fcall lint                            all case files that `pytest` would run
  fcall lint cases/shop.fc.yaml         one file
  fcall lint --format=github cases      faults as annotations of a pull request

Files are collected by pytest, with its configuration and the conftest.py files of the project.
"""


def run(arguments: Sequence[str]) -> int:
    """Check the files; 1 where there are faults, 2 where there are no files, or pytest cannot collect them."""
    parser = _parser()
    options = parser.parse_args(arguments)
    existing_paths(parser, options.paths)
    from pytest_fcall.cli.lint_plugin import CaseFileReader
    from pytest_fcall.cli.pytest_run import run_pytest_offline

    reader = CaseFileReader()
    _, output = run_pytest_offline(["--collect-only", "-q", *options.paths], reader)
    root, faults = reader.root, reader.faults
    if root is None or reader.problems:
        print("\n\n".join(reader.problems) or output, file=sys.stderr)
        return 2
    if not reader.files:
        why = "no case files found: their names end in .fc.yaml, or they are YAML files that fc_files names"
        parser.error("\n".join([why, *reader.uncollected]))
    match options.format:
        case "json":
            print(_json(reader.files, reader.cases, faults, root))
        case "github":
            for fault in faults:
                print(_annotation(fault, root))
        case _:
            where = f"{plural_text(reader.cases, 'case')} in {plural_text(reader.files, 'file')}"
            summary = f"{where}: {plural_text(len(faults), 'fault') if faults else 'no faults'}"
            print("\n\n".join([*(fault_text(fault, root) for fault in faults), summary]))
    print(*reader.uncollected, sep="\n", end="\n" if reader.uncollected else "", file=sys.stderr)
    return 1 if faults else 0


def _parser() -> ArgumentParser:
    parser = command_parser(
        "lint", "Check case files without running them. No model is asked, nothing is started or written.", _EXAMPLES
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="case files and folders (default: those that pytest would run)"
    )
    parser.add_argument(
        "--format", choices=("text", "json", "github"), default="text", help="the output format (default: text)"
    )
    return parser


def _json(files: int, cases: int, faults: Sequence[Fault], root: Path) -> str:
    entries = [
        fault._asdict() | {"location": fault.location._asdict() | {"path": file_path_text(fault.location, root)}}
        for fault in faults
    ]
    return json.dumps({"files": files, "cases": cases, "faults": entries}, indent=2)


def _annotation(fault: Fault, root: Path) -> str:
    at = fault.location
    place = f"file={_escaped_property(file_path_text(at, root))},line={at.line},col={at.column}"
    text = f"{fault.message}; {fault.hint}" if fault.hint else fault.message
    return f"::error {place},title={_escaped_property(fault.code)}::{_escaped_data(text)}"


def _escaped_data(text: str) -> str:
    """Text of a workflow command of GitHub, which a line break would end."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped_data(text).replace(":", "%3A").replace(",", "%2C")
