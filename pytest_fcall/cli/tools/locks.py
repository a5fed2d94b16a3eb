"""`fcall tools lock` and `fcall tools diff`: lock files, written and compared with their sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cli.counting import count
from pytest_fcall.cli.project import Project
from pytest_fcall.cli.tools.sources import ProblemList, SourceClient, files_with_sources
from pytest_fcall.core import Case, Json
from pytest_fcall.reporting.safe_text import safe, safe_line
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.lock_file import (
    LockEntry,
    ToolLock,
    describe_source,
    lock_path,
    read_lock,
    source_key,
    write_lock,
)
from pytest_fcall.schema.tool_changes import tool_changes


def lock_tools(project: Project, asker: SourceClient) -> int:
    """Write the lock files; 1 where a source could not be asked. What such a source said before is kept."""
    problems = ProblemList()
    found = list(files_with_sources(project, problems))
    for path, sources in found:
        _lock_file(path, sources, project, asker, problems)
    if not found and not problems.told:
        print("nothing to lock: no case file names an MCP server or the address of an OpenAPI document")
    problems.tell()
    return 1 if problems.told else 0


def _lock_file(
    path: Path, sources: Sequence[Mapping[str, Json]], project: Project, asker: SourceClient, problems: ProblemList
) -> None:
    target = lock_path(path)
    before = _existing_lock(target)
    entries: dict[str, LockEntry] = {}
    for source in sources:
        key, said = source_key(source), describe_source(source)
        try:
            entries[key] = _lock_entry(source, path, asker, entries.get(key))
            print(safe_line(f"{project.shown(target)}: {said} has {count(len(entries[key].tools), 'tool')}"))
        except SchemaError as error:
            problems.refusal(f"{project.shown(path)}: {said}", error)
            if key in before.entries:
                entries.setdefault(key, before.entries[key])
    if entries:
        try:
            write_lock(target, entries.values())
        except SchemaError as error:
            problems.refusal(project.shown(target), error)


def _lock_entry(source: Mapping[str, Json], path: Path, asker: SourceClient, twin: LockEntry | None) -> LockEntry:
    entry = LockEntry(source, tuple(asker.tools(source, path.parent)))
    if twin is not None and twin.tools != entry.tools:
        raise SchemaError(
            "two sources that differ only in values of headers or variables offer different tools",
            hint="a lock file keeps no such values: tell the sources apart by their command or url",
        )
    return entry


def _existing_lock(path: Path) -> ToolLock:
    try:
        return read_lock(path)
    except SchemaError:  # a damaged file is what this command mends
        return ToolLock()


_MOST_NAMED = 8
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def diff_tools(project: Project, asker: SourceClient) -> int:
    """Say what changed. 1: something did; 10: nothing did, as far as the sources could be asked; 0: nothing."""
    problems = ProblemList()
    asked, drifted = 0, 0
    touched: dict[str, None] = {}
    for path, sources in files_with_sources(project, problems):
        for source in sources:
            asked += 1
            try:
                changes = list(_change_lines(path, source, project, asker, touched))
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


def _change_lines(
    path: Path, source: Mapping[str, Json], project: Project, asker: SourceClient, touched: dict[str, None]
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
    cases = _cases_of(path, project) if changes else []
    for change in changes:
        yield f"  {_SIGNS[change.kind]} {change.tool}"
        yield from (f"      {detail}" for detail in change.details)
        names = {case.id: _offered_names(change.tool, describe_source(source), case) for case in cases}
        expecting = [case.id for case in cases if names[case.id] & {call.tool for call in case.expected_calls}]
        touched.update(dict.fromkeys(f"{project.shown(path)}::{case}" for case in expecting))
        yield from (f"      {line}" for line in _affected_case_lines(expecting, sum(map(bool, names.values()))))


def _cases_of(path: Path, project: Project) -> list[Case]:
    try:
        entries = read_case_file(path, root=project.root).entries
    except UnreadableFile:
        return []
    return [entry for entry in entries if isinstance(entry, Case)]


def _affected_case_lines(expecting: Sequence[str], offering: int) -> Iterator[str]:
    """The cases that expect a call of the tool by name, and how many more offer it."""
    if expecting:
        more = f" and {len(expecting) - _MOST_NAMED} more" if len(expecting) > _MOST_NAMED else ""
        yield f"expected by {', '.join(expecting[:_MOST_NAMED])}{more}"
    if rest := offering - len(expecting):
        yield f"offered in {count(rest, 'more case' if expecting else 'case')}"


def _offered_names(tool: str, source: str, case: Case) -> set[str]:
    """The names of the tool in a case: `as: shop` makes it `shop__tool`."""
    return {
        offered.name
        for offered in case.tools
        if offered.source == source and (offered.name == tool or offered.name.endswith(f"__{tool}"))
    }
