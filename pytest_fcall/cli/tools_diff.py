"""`fcall tools diff`: what changed at the sources of tools since they were locked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_fcall.cases import UnreadableFile, read_case_file
from pytest_fcall.cli.asking import Asker
from pytest_fcall.cli.counting import count
from pytest_fcall.cli.project import Project
from pytest_fcall.cli.sourced import Problems, sourced_files
from pytest_fcall.core import Case, Json
from pytest_fcall.reporting import safe
from pytest_fcall.schema import SchemaError
from pytest_fcall.schema.sources.drift import tool_changes
from pytest_fcall.schema.sources.locks import describe_source, lock_path, read_lock

_NAMED = 8
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def diff(project: Project, asker: Asker) -> int:
    """Say what changed. 1: something did; 10: nothing did, as far as the sources could be asked; 0: nothing."""
    problems = Problems()
    asked, drifted = 0, 0
    touched: dict[str, None] = {}
    for path, sources in sourced_files(project, problems):
        for source in sources:
            asked += 1
            try:
                changes = list(_changes(path, source, project, asker, touched))
            except SchemaError as error:
                problems.refusal(f"{project.shown(path)}: {describe_source(source)}", error)
                continue
            if changes:
                drifted += 1
                print(safe("\n".join([f"{project.shown(path)}: {describe_source(source)}", *changes]), limit=100_000))
    print(f"{count(asked, 'source')}: {count(drifted, 'change') if drifted else 'no change'}")
    if touched:
        print("to look at, since they expect a tool that changed:")
        print(safe("\n".join(f"  {name}" for name in touched), limit=1_000_000))
    problems.tell()
    if drifted:
        return 1
    return 10 if problems.told else 0


def _changes(
    path: Path, source: Mapping[str, Json], project: Project, asker: Asker, touched: dict[str, None]
) -> Iterator[str]:
    """What changed, in lines; the cases that it touches are added to `touched`, as pytest names them."""
    target = lock_path(path)
    try:
        locked = read_lock(target).tools(source)
        unusable = "" if locked is not None else f"not in {target.name}"
    except SchemaError as error:
        locked, unusable = None, error.message
    if locked is None:
        yield f"  {unusable}; run: fcall tools lock {project.shown(path)}"
        return
    changes = tool_changes(locked, asker.tools(source, path.parent))
    cases = _cases(path, project) if changes else []
    for change in changes:
        yield f"  {_SIGNS[change.kind]} {change.tool}"
        yield from (f"      {detail}" for detail in change.details)
        names = {case.id: _offered_as(change.tool, describe_source(source), case) for case in cases}
        expecting = [case.id for case in cases if names[case.id] & {call.tool for call in case.expected_calls}]
        touched.update(dict.fromkeys(f"{project.shown(path)}::{case}" for case in expecting))
        yield from (f"      {line}" for line in _touched(expecting, sum(map(bool, names.values()))))


def _cases(path: Path, project: Project) -> list[Case]:
    try:
        entries = read_case_file(path, root=project.root).entries
    except UnreadableFile:
        return []
    return [entry for entry in entries if isinstance(entry, Case)]


def _touched(expecting: Sequence[str], offering: int) -> Iterator[str]:
    """The cases that expect a call of the tool by name, and how many more offer it."""
    if expecting:
        more = f" and {len(expecting) - _NAMED} more" if len(expecting) > _NAMED else ""
        yield f"expected by {', '.join(expecting[:_NAMED])}{more}"
    if rest := offering - len(expecting):
        yield f"offered in {count(rest, 'more case' if expecting else 'case')}"


def _offered_as(tool: str, source: str, case: Case) -> set[str]:
    """The names of the tool in a case: `as: shop` makes it `shop__tool`."""
    return {
        offered.name
        for offered in case.tools
        if offered.source == source and (offered.name == tool or offered.name.endswith(f"__{tool}"))
    }
