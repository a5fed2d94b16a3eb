"""`fcall tools coverage`: what no case names of the tools that are offered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fcall.cases.coverage import Coverage, Path, coverage
from pytest_fcall.cli.counting import count
from pytest_fcall.cli.project import Project
from pytest_fcall.cli.sourced import Problems, read_files
from pytest_fcall.core import Case
from pytest_fcall.reporting import safe_line


def show_coverage(project: Project) -> int:
    """Tell of each tool what is not named; 1 where something is not, or a file cannot be read."""
    problems = Problems()
    files = read_files(project, problems)
    found = coverage(case for file in files for case in file.entries if isinstance(case, Case))
    for each in found:
        for line in _lines(each):
            print(safe_line(line))
    for line in _summary(found):
        print(line)
    problems.tell()
    return 1 if problems.told or any(not each.cases or each.arguments_left or each.values_left for each in found) else 0


def _lines(found: Coverage) -> Iterator[str]:
    if not found.cases:
        yield f"{found.tool.name}: no case expects it"
        return
    left = [f"  {_said(path)}: no case names it" for path in found.arguments_left]
    left += [f"  {_said(path)}: no case names {', '.join(values)}" for path, values in found.values_left.items()]
    if left:
        yield f"{found.tool.name}: expected by {count(found.cases, 'case')}"
        yield from left


def _summary(found: Sequence[Coverage]) -> Iterator[str]:
    named = sum(bool(each.cases) for each in found)
    optional = sum(len(each.optional) for each in found)
    arguments = optional - sum(len(each.arguments_left) for each in found)
    told = sum(pair in each.told for each in found for pair in each.values)
    values = sum(len(each.values) for each in found)
    yield f"{named} of {count(len(found), 'tool')} expected"
    if optional:
        yield f"{arguments} of {count(optional, 'optional argument')} named"
    if values:
        yield f"{told} of {count(values, 'value')} of enums named"


def _said(path: Path) -> str:
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
