"""`fcall lint`: what pytest would say about case files at collection, without pytest."""

from __future__ import annotations

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.cli.counting import count
from pytest_fcall.cli.project import Project, open_project
from pytest_fcall.core import Case, Fault
from pytest_fcall.core.case import judge_fault
from pytest_fcall.decoding import DECODERS
from pytest_fcall.reporting.faults import fault_text, file_path_text
from pytest_fcall.suites.builtin import SUITE_OPERATORS, SUITES

_EXAMPLES = """\
examples:
  fcall lint                            every case file below this folder
  fcall lint cases/shop.fc.yaml         one file
  fcall lint --format=github cases      faults as annotations of a pull request
  fcall lint --operator=iban cases      with an operator that a conftest.py adds

What a conftest.py adds beside these is known to pytest only: `pytest --collect-only` checks files with its sources of
tools and suites.
"""


@dataclass(frozen=True, slots=True)
class _Findings:
    files: int
    cases: int
    faults: tuple[Fault, ...]


def run(arguments: Sequence[str]) -> int:
    """Check the files; 1 where there are faults."""
    parser = _parser()
    options = parser.parse_args(arguments)
    project = open_project(parser, options.paths)
    names = Extensions(
        comparators=frozenset((*SUITE_OPERATORS, *options.operator)),
        decoders=frozenset((*DECODERS, *options.decoder)),
        suites=SUITES,
    )
    found = _check(project, names)
    match options.format:
        case "json":
            print(_json(found, project.root))
        case "github":
            for fault in found.faults:
                print(_annotation(fault, project.root))
        case _:
            print("\n\n".join([*(fault_text(fault, project.root) for fault in found.faults), _summary(found)]))
    return 1 if found.faults else 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall lint",
        description="Check case files without running them. Nothing is asked, started or written.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="case files and folders (default: this folder)")
    parser.add_argument("--format", choices=("text", "json", "github"), default="text", help="how to say it")
    parser.add_argument(
        "--operator", action="append", default=[], metavar="NAME", help="an operator of your own, without the dollar"
    )
    parser.add_argument("--decoder", action="append", default=[], metavar="NAME", help="a decoder of your own")
    return parser


def _check(project: Project, extensions: Extensions) -> _Findings:
    read = [found for path in project.files if (found := _read(path, project, extensions)) is not None]
    return _Findings(
        files=len(read),
        cases=sum(cases for cases, _ in read),
        faults=tuple(fault for _, faults in read for fault in faults),
    )


def _read(path: Path, project: Project, extensions: Extensions) -> tuple[int, Sequence[Fault]] | None:
    """The number of cases and the faults; None for a file that nobody meant to hold cases."""
    try:
        found = read_case_file(path, root=project.root, extensions=extensions)
    except UnreadableFile as unreadable:
        return (0, [unreadable.fault]) if project.means_cases(path, unreadable.fault) else None
    late = (judge_fault(entry) for entry in found.entries if isinstance(entry, Case))
    return len(found.entries), [*found.faults, *(fault for fault in late if fault)]


def _summary(found: _Findings) -> str:
    held = f"{count(found.cases, 'case')} in {count(found.files, 'file')}"
    return f"{held}: {count(len(found.faults), 'fault')}" if found.faults else f"{held}: no faults"


def _json(found: _Findings, root: Path) -> str:
    faults = [
        asdict(fault) | {"location": asdict(fault.location) | {"path": file_path_text(fault.location, root)}}
        for fault in found.faults
    ]
    return json.dumps({"files": found.files, "cases": found.cases, "faults": faults}, indent=2)


def _annotation(fault: Fault, root: Path) -> str:
    at = fault.location
    place = f"file={_escaped_property(file_path_text(at, root))},line={at.line},col={at.column}"
    text = f"{fault.message}; {fault.hint}" if fault.hint else fault.message
    return f"::error {place},title={_escaped_property(fault.code)}::{_escaped_data(text)}"


def _escaped_data(text: str) -> str:
    """Text of a workflow command, in which a line's end would end the command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped_data(text).replace(":", "%3A").replace(",", "%2C")
