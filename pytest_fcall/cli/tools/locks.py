"""`fcall tools lock` and `fcall tools diff`: lock files, written and compared with their sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.files import anywhere
from pytest_fcall.cases.preamble import LockedSource
from pytest_fcall.cli.project import Project
from pytest_fcall.cli.tools.sources import ProblemList, SourceClient, sources_with_users
from pytest_fcall.core.case import Case
from pytest_fcall.core.message_text import list_text, plural_text
from pytest_fcall.reporting.safe_text import safe, safe_line
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.lock_file import (
    LockEntry,
    ToolLock,
    describe_source,
    read_lock,
    source_key,
    write_lock,
)
from pytest_fcall.schema.tool_changes import ToolChange, tool_changes

_MOST_NAMED = 8
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def lock_tools(project: Project, client: SourceClient) -> int:
    """Write the lock files; 1 where a source could not be asked. The earlier entry of such a source is kept."""
    problems = ProblemList(project)
    by_lock: dict[Path, list[LockedSource]] = {}
    for source, _ in sources_with_users(project, problems):
        by_lock.setdefault(source.lock, []).append(source)
    for lock, sources in by_lock.items():
        _write_lock(lock, sources, project, client, problems)
    if not by_lock and not problems.messages:
        print(safe_line(_nothing_text(project)))
    problems.print()
    return 1 if problems.messages else 0


def _nothing_text(project: Project) -> str:
    lockable = "an agent, an MCP server or the URL of an OpenAPI document"
    if project.named_files:
        named = " and ".join(sorted(map(project.relative, project.named_files)))
        return f"nothing to lock: {lockable} is not named in {named}"
    return f"nothing to lock: no case file names {lockable}; a file of tools alone is locked if it is named itself"


def _write_lock(
    target: Path, sources: Sequence[LockedSource], project: Project, client: SourceClient, problems: ProblemList
) -> None:
    before = _existing_lock(target)
    entries: dict[str, LockEntry] = {}
    for source in sources:
        key, title = source_key(source.key), describe_source(source.key)
        try:
            entries[key] = _lock_entry(source, client, entries.get(key))
            print(safe_line(f"{project.relative(target)}: {title} has {_tools_text(entries[key], client)}"))
            _print_changes(before.entries.get(key), entries[key])
        except SchemaError as error:
            problems.add_schema_error(f"{project.relative(source.file)}: {title}", error)
            if key in before.entries:
                entries.setdefault(key, before.entries[key])
    if entries:
        try:
            write_lock(target, entries.values())
        except SchemaError as error:
            problems.add_schema_error(project.relative(target), error)


def _print_changes(before: LockEntry | None, now: LockEntry) -> None:
    """Print what a lock file takes over; nothing where it is new."""
    for change in tool_changes(before.tools, now.tools) if before else ():
        print(safe("\n".join(_change_lines(change)), limit=100_000))


def _change_lines(change: ToolChange, more: Iterable[str] = ()) -> list[str]:
    """A line for the tool, and one for each detail."""
    return [f"  {_SIGNS[change.kind]} {change.tool}", *(f"      {detail}" for detail in (*change.details, *more))]


def _tools_text(entry: LockEntry, client: SourceClient) -> str:
    """The number of its tools, and what it offers besides."""
    number, left_out = plural_text(len(entry.tools), "tool"), client.left_out(entry.source)
    return f"{number}, without {', '.join(left_out)}" if left_out else number


def _lock_entry(source: LockedSource, client: SourceClient, same_key: LockEntry | None) -> LockEntry:
    entry = LockEntry(source.key, tuple(client.tools(source.key, source.file.parent)))
    if same_key is not None and same_key.tools != entry.tools:
        raise SchemaError(
            "two sources that differ only in values of headers or variables offer different tools",
            hint="lock files hold no such values: give the sources different commands or URLs",
        )
    return entry


def _existing_lock(path: Path) -> ToolLock:
    try:
        return read_lock(path)
    except SchemaError:  # this command replaces a damaged file
        return ToolLock()


@dataclass(frozen=True, slots=True)
class SourceChanges:
    """The changes of one source since it was locked."""

    lines: Sequence[str]
    affected: Sequence[str] = ()
    """The node ids of the cases that expect a changed tool."""


def diff_tools(project: Project, client: SourceClient) -> int:
    """Print what changed. 1: something did; 10: nothing did, but a source could not be asked; 0: nothing did."""
    problems = ProblemList(project)
    sources_asked, sources_changed = 0, 0
    affected: dict[str, None] = {}
    changed_files: dict[str, None] = {}
    for source, users in sources_with_users(project, problems):
        sources_asked += 1
        title = f"{project.relative(source.file)}: {describe_source(source.key)}"
        try:
            changes = _source_changes(source, users, project, client)
        except SchemaError as error:
            problems.add_schema_error(title, error)
            continue
        if changes.lines:
            sources_changed += 1
            affected.update(dict.fromkeys(changes.affected))
            changed_files[project.relative(source.file)] = None
            print(safe("\n".join([title, *changes.lines]), limit=100_000))
    outcome = f"{sources_changed} changed" if sources_changed else "no change"
    print(f"{plural_text(sources_asked, 'source')}: {outcome}")
    if affected:
        print("cases to review, because they expect a changed tool:")
        print(safe("\n".join(f"  {name}" for name in affected), limit=1_000_000))
    if changed_files:
        print(safe_line(f"to take it over: fcall tools lock {' '.join(changed_files)}", limit=10_000))
    problems.print()
    if sources_changed:
        return 1
    return 10 if problems.messages else 0


def _source_changes(
    source: LockedSource, users: Sequence[Path], project: Project, client: SourceClient
) -> SourceChanges:
    """Compare a source with its lock file. Raises SchemaError where it cannot be asked."""
    try:
        locked = read_lock(source.lock).tools(source.key)
        unusable = "" if locked is not None else f"not in {source.lock.name}"
    except SchemaError as error:
        locked, unusable = None, error.message
    if locked is None:
        return SourceChanges([f"  {unusable}"])
    changes = tool_changes(locked, client.tools(source.key, source.file.parent))
    cases = [(project.relative(path), case) for path in users for case in _cases_of(path, project)] if changes else []
    lines: list[str] = []
    affected: list[str] = []
    for change in changes:
        names = [_offered_names(change.tool, describe_source(source.key), case) for _, case in cases]
        expecting = [
            (file, case.id)
            for (file, case), offered in zip(cases, names, strict=True)
            if offered & {call.tool for call in case.expected_calls}
        ]
        affected += (f"{file}::{case}" for file, case in expecting)
        lines += _change_lines(change, _affected_case_lines([case for _, case in expecting], sum(map(bool, names))))
    return SourceChanges(lines, affected)


def _cases_of(path: Path, project: Project) -> list[Case]:
    try:
        entries = read_case_file(path, root=project.root, outside=anywhere(path)).entries
    except UnreadableFile:
        return []
    return [entry for entry in entries if isinstance(entry, Case)]


def _offered_names(tool: str, source: str, case: Case) -> set[str]:
    """The names of the tool in a case: `as: shop` makes it `shop__tool`."""
    return {
        offered.name
        for offered in case.tools
        if offered.source == source and (offered.name == tool or offered.name.endswith(f"__{tool}"))
    }


def _affected_case_lines(expecting: Sequence[str], offering: int) -> Iterator[str]:
    """The cases that expect a call of the tool, and the number of the others that offer it."""
    if expecting:
        yield f"expected by {list_text(expecting, _MOST_NAMED)}"
    if rest := offering - len(expecting):
        yield f"offered in {plural_text(rest, 'more case' if expecting else 'case')}"
