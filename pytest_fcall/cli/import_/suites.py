"""`fcall import SUITE`: the cases of a public benchmark as case files."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from errno import EEXIST
from itertools import count
from pathlib import Path

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.cases.suite import Pick, read_pick, split_suite_name
from pytest_fcall.cli.suites import check_suite_name
from pytest_fcall.core.case import Case, FaultyCase
from pytest_fcall.core.extension import About, Suite, about_of
from pytest_fcall.core.files import create_file
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.suites.builtin import SUITE_OPERATORS, SUITES
from pytest_fcall.suites.case_files import case_file_text, split_by_tools

_MOST_NAMED = 5
"""The most cases that are named one by one when they are left out for the same reason."""


def import_suite(parser: ArgumentParser, options: Namespace) -> int:
    """Write the files; 1 where a case is left out."""
    name, parts = split_suite_name(options.source)
    check_suite_name(parser, name)
    try:
        cases = _picked_cases(SUITES[name], parts, options)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    about = about_of(name, SUITES[name], options.path)
    left_out = [case for case in cases if isinstance(case, FaultyCase)]
    names = _FileNames()
    for category in dict.fromkeys(case.category for case in cases if isinstance(case, Case)):
        own = [case for case in cases if isinstance(case, Case) and case.category == category]
        left_out += _write_category(own, names.of(category), f"{category} of {_source_title(about)}", options.out)
    for line in _left_out_lines(left_out, len(cases)):
        print(safe_line(line), file=sys.stderr)
    return 1 if left_out else 0


def _picked_cases(suite: Suite, parts: Sequence[str], options: Namespace) -> list[Case | FaultyCase]:
    cases = {case.id: case for part in parts for case in _cases_without_judge(suite, part, options.path)}
    pick = read_pick([text.strip() for text in options.pick.split(",")]) if options.pick else Pick()
    ids = list(cases)
    return [cases[ids[number]] for number in pick.indexes(ids)]


def _cases_without_judge(suite: Suite, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
    """The cases with expectations in place of the judge of the suite. Raises ValueError where it has no such form."""
    plain: Callable[[str, Path | None], Iterable[Case | FaultyCase]] = getattr(suite, "plain", suite.cases)
    for case in plain(part, path):
        if isinstance(case, Case) and case.judge is not None:
            raise ValueError("this suite has a judge of its own, which case files cannot express")
        yield case


class _FileNames:
    """File names that need no quoting in a shell, and differ where case is ignored."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, category: str) -> Iterator[str]:
        """The names of the files of a category, without end."""
        base = re.sub(r"[^\w.-]+", "_", category)
        for number in count(1):
            name = f"{base}_{number}" if number > 1 else base
            if name.casefold() not in self._taken:
                self._taken.add(name.casefold())
                yield f"{name}.fc.yaml"


def _source_title(about: About) -> str:
    return f"{about.title}, {about.licence}" if about.licence else about.title


def _write_category(cases: Sequence[Case], names: Iterator[str], title: str, folder: Path) -> list[FaultyCase]:
    """Write the files of a category. Returns the cases that no case file can express."""
    writable, left_out = _writable_cases(cases)
    folder.mkdir(parents=True, exist_ok=True)
    for own in split_by_tools(writable):
        path = folder / next(names)
        try:
            create_file(path, [case_file_text(own, title).encode()])
        except FileExistsError:
            raise FileExistsError(
                EEXIST, "file exists and is not overwritten; choose another folder", str(path)
            ) from None
        print(f"{path}: {plural_text(len(own), 'case')}")
    return left_out


def _writable_cases(cases: Sequence[Case]) -> tuple[list[Case], list[FaultyCase]]:
    """The cases without and with faults in a case file: the expectations of some contradict their own tools."""
    writable: list[Case] = []
    faulty: list[FaultyCase] = []
    extensions = Extensions(comparators=frozenset(SUITE_OPERATORS))
    for case in cases:
        text = case_file_text([case], case.id)
        (entry,) = read_case_text(text, Path("case.fc.yaml"), root=Path(), extensions=extensions).entries
        if isinstance(entry, FaultyCase):
            faulty.append(entry._replace(id=case.id))
        else:
            writable.append(case)
    return writable, faulty


def _left_out_lines(left_out: Sequence[FaultyCase], total: int) -> Iterator[str]:
    """The cases that are left out, with reasons; a single line for many cases with the same reason."""
    by_reason: dict[str, list[str]] = {}
    for case in left_out:
        by_reason.setdefault(case.faults[0].message, []).append(case.id)
    for reason, ids in by_reason.items():
        if len(ids) > _MOST_NAMED:
            yield f"left out: {ids[0]} and {plural_text(len(ids) - 1, 'other')}: {reason}"
        else:
            yield from (f"left out: {id_}: {reason}" for id_ in ids)
    if left_out:
        yield f"{len(left_out)} of {plural_text(total, 'case')} left out"
