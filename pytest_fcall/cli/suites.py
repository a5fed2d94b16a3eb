"""`fcall suites`: which public benchmarks can be run, and what there is of each."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_fcall.cli.counting import count
from pytest_fcall.core.extension import About, about_of
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import table_lines
from pytest_fcall.suites.builtin import SUITES

_EXAMPLES = """\
examples:
  fcall suites                      all suites
  fcall suites bfcl --path data     one of them, whose files are in a folder

`pytest --fc-suite=bfcl:live --fc-model=…` runs one, `fcall import bfcl:live --out cases` makes case files of it.
Suites that a conftest.py adds are known to pytest only.
"""


def run(arguments: Sequence[str]) -> int:
    """List them; 1 where the data of one that was asked for is not there."""
    parser = ArgumentParser(
        prog="fcall suites",
        description="List public benchmarks and their parts: counts, sizes, licence, where the data is.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--path", type=Path, metavar="DIR", help="where the data is, if not in an installed package")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in SUITES:
            parser.error(f"there is no suite {name!r}; there is {', '.join(SUITES)}")
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
            print(line)
        for fault in about.mended if options.names else ():
            print(safe_line(f"  mended: {fault}"))
    return 1 if missing and options.names else 0


def _suite_lines(name: str, about: About, path: Path | None) -> Iterator[str]:
    yield safe_line(f"{name}: {about.title}" + (f", {about.licence}" if about.licence else ""))
    where = about.place or f"not {f'in {path}' if path else 'here'}; {about.origin}"
    yield safe_line(f"  data: {where}")
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
        yield safe_line(f"  {', '.join(names)}: {note}")
    sizes = {part.name: part.cases or 0 for part in about.parts}
    for group, parts in about.groups.items():
        whole = count(sum(sizes.get(part, 0) for part in parts), "case") if about.place else ""
        yield safe_line(
            f"  {name}:{group} is {', '.join(_group_members(group, about))}" + (f" ({whole})" if whole else "")
        )


def _group_members(group: str, about: About) -> list[str]:
    """What a group holds, told by the largest groups inside it; of two that hold the same the first is spelt out."""
    names = [*about.groups]
    whole = frozenset(about.groups[group])
    told: dict[str, str] = {}
    for other in sorted(names, key=lambda name: -len(about.groups[name])):
        parts = frozenset(about.groups[other])
        inside = parts < whole or (parts == whole and names.index(other) < names.index(group))
        if inside and parts.isdisjoint(told):
            told |= dict.fromkeys(parts, other)
    return [*dict.fromkeys(told.get(part, part) for part in about.groups[group])]
