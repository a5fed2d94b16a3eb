"""`fcall suites`: the public benchmarks that can be run, and their parts."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.core.extension import About, about_of
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import table_lines
from pytest_fcall.suites.builtin import SUITES

_EXAMPLES = """\
examples:
  fcall suites                      all suites
  fcall suites bfcl --path data     one suite, whose files are in a folder

Run a suite with `pytest --fc-suite=bfcl:live --fc-model=…`, or write its cases as case files with
`fcall import bfcl:live --out cases`. Suites that a conftest.py adds are not listed.
"""


def run(arguments: Sequence[str]) -> int:
    """List the suites; 1 where the data of a named one is missing."""
    parser = command_parser(
        "suites", "List public benchmarks: parts, cases, sizes, licence, and where the data is.", _EXAMPLES
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these suites")
    parser.add_argument(
        "--path", type=Path, metavar="DIR", help="the folder of the data (default: that of an installed package)"
    )
    options = parser.parse_args(arguments)
    for name in options.names:
        check_suite_name(parser, name)
    missing = False
    for name in options.names or SUITES:
        try:
            about = about_of(name, SUITES[name], options.path)
        except (ValueError, OSError) as error:
            print(safe_line(f"{name}: {error}"), file=sys.stderr)
            missing = True
            continue
        missing |= about.place is None
        for line in _suite_lines(name, about, options.path):
            print(safe_line(line))
        for fault in about.mended if options.names else ():
            print(safe_line(f"  corrected: {fault}"))
    return 1 if missing and options.names else 0


def check_suite_name(parser: ArgumentParser, name: str) -> None:
    """End the program through `parser` where there is no suite of this name."""
    if name not in SUITES:
        parser.error(f"unknown suite {name!r}; available: {', '.join(SUITES)}")


def _suite_lines(name: str, about: About, path: Path | None) -> Iterator[str]:
    yield f"{name}: {about.title}" + (f", {about.licence}" if about.licence else "")
    place = about.place or (f"not in {path}" if path else "not installed") + f"; {about.origin}"
    yield f"  data: {place}"
    rows = [
        (
            safe_line(part.name),
            "" if part.cases is None else f"{part.cases:,}",
            "" if part.size is None else f"{part.size / 1024:,.0f} KiB",
        )
        for part in about.parts
    ]
    for line in table_lines(("part", "cases", "size"), rows, texts=1, width=100) if rows else ():
        yield f"  {line}"
    notes: dict[str, list[str]] = {}
    for part in about.parts:
        if part.note:
            notes.setdefault(part.note, []).append(part.name)
    for note, names in notes.items():
        yield f"  {', '.join(names)}: {note}"
    sizes = {part.name: part.cases or 0 for part in about.parts}
    for group, parts in about.groups.items():
        total = f" ({plural_text(sum(sizes.get(part, 0) for part in parts), 'case')})" if about.place else ""
        yield f"  {name}:{group} is {', '.join(_group_members(group, about))}{total}"


def _group_members(group: str, about: About) -> list[str]:
    """The parts of a group, where possible as the largest groups inside it.

    Of two groups with the same parts, the first is listed by its parts.
    """
    names = [*about.groups]
    whole = frozenset(about.groups[group])
    covering: dict[str, str] = {}
    for other in sorted(names, key=lambda name: -len(about.groups[name])):
        parts = frozenset(about.groups[other])
        inside = parts < whole or (parts == whole and names.index(other) < names.index(group))
        if inside and parts.isdisjoint(covering):
            covering |= dict.fromkeys(parts, other)
    return [*dict.fromkeys(covering.get(part, part) for part in about.groups[group])]
