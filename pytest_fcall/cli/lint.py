"""`fcall lint`: the faults that pytest would find in case files at collection."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.project import Project, open_project
from pytest_fcall.core import Case, Fault
from pytest_fcall.core.case import judge_fault
from pytest_fcall.decoding import DECODERS
from pytest_fcall.reporting.faults import fault_text, file_path_text
from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.suites.builtin import SUITE_OPERATORS, SUITES

_EXAMPLES = """\
examples:
  fcall lint                            all case files in this folder and below
  fcall lint cases/shop.fc.yaml         one file
  fcall lint --format=github cases      faults as annotations of a pull request
  fcall lint --operator=iban cases      with an operator that a conftest.py adds

`fcall lint` reads no conftest.py. Where one adds tool sources or suites, check the files with `pytest --collect-only`.
"""


def run(arguments: Sequence[str]) -> int:
    """Check the files; 1 where there are faults."""
    parser = _parser()
    options = parser.parse_args(arguments)
    project = open_project(parser, options.paths)
    extensions = Extensions(
        comparators=frozenset((*SUITE_OPERATORS, *options.operator)),
        decoders=frozenset((*DECODERS, *options.decoder)),
        suites=SUITES,
    )
    checked = list(_checked_files(project, extensions))
    cases = sum(count for count, _ in checked)
    faults = [fault for _, own in checked for fault in own]
    match options.format:
        case "json":
            print(_json(len(checked), cases, faults, project.root))
        case "github":
            for fault in faults:
                print(_annotation(fault, project.root))
        case _:
            where = f"{plural_text(cases, 'case')} in {plural_text(len(checked), 'file')}"
            summary = f"{where}: {plural_text(len(faults), 'fault') if faults else 'no faults'}"
            print("\n\n".join([*(fault_text(fault, project.root) for fault in faults), summary]))
    return 1 if faults else 0


def _parser() -> ArgumentParser:
    parser = command_parser(
        "lint", "Check case files without running them. No model is asked, nothing is started or written.", _EXAMPLES
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="case files and folders (default: this folder)")
    parser.add_argument(
        "--format", choices=("text", "json", "github"), default="text", help="the output format (default: text)"
    )
    parser.add_argument(
        "--operator", action="append", default=[], metavar="NAME", help="an operator of yours, without the dollar sign"
    )
    parser.add_argument("--decoder", action="append", default=[], metavar="NAME", help="a decoder of yours")
    return parser


def _checked_files(project: Project, extensions: Extensions) -> Iterator[tuple[int, Sequence[Fault]]]:
    """The number of cases and the faults of each file. YAML files that are not meant as case files are left out."""
    for path in project.files:
        try:
            file = read_case_file(path, root=project.root, extensions=extensions)
        except UnreadableFile as unreadable:
            if project.is_meant_as_cases(path, unreadable.fault):
                yield 0, [unreadable.fault]
        else:
            late = (judge_fault(entry) for entry in file.entries if isinstance(entry, Case))
            yield len(file.entries), [*file.faults, *(fault for fault in late if fault)]


def _json(files: int, cases: int, faults: Sequence[Fault], root: Path) -> str:
    entries = [
        asdict(fault) | {"location": asdict(fault.location) | {"path": file_path_text(fault.location, root)}}
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
