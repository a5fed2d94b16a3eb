"""`fcall tools lock`: keep what sources say about their tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_fcall.cli.asking import Asker
from pytest_fcall.cli.counting import count
from pytest_fcall.cli.project import Project
from pytest_fcall.cli.sourced import Problems, sourced_files
from pytest_fcall.core import Json
from pytest_fcall.reporting import safe_line
from pytest_fcall.schema import SchemaError
from pytest_fcall.schema.sources.locks import (
    LockEntry,
    ToolLock,
    describe_source,
    lock_path,
    read_lock,
    source_key,
    write_lock,
)


def lock(project: Project, asker: Asker) -> int:
    """Write the lock files; 1 where a source could not be asked. What such a source said before is kept."""
    problems = Problems()
    found = list(sourced_files(project, problems))
    for path, sources in found:
        _lock(path, sources, project, asker, problems)
    if not found and not problems.told:
        print("nothing to lock: no case file names an MCP server or the address of an OpenAPI document")
    problems.tell()
    return 1 if problems.told else 0


def _lock(
    path: Path, sources: Sequence[Mapping[str, Json]], project: Project, asker: Asker, problems: Problems
) -> None:
    target = lock_path(path)
    before = _before(target)
    entries: dict[str, LockEntry] = {}
    for source in sources:
        key, said = source_key(source), describe_source(source)
        try:
            entries[key] = _entry(source, path, asker, entries.get(key))
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


def _entry(source: Mapping[str, Json], path: Path, asker: Asker, twin: LockEntry | None) -> LockEntry:
    entry = LockEntry(source, tuple(asker.tools(source, path.parent)))
    if twin is not None and twin.tools != entry.tools:
        raise SchemaError(
            "two sources that differ only in values of headers or variables offer different tools",
            hint="a lock file keeps no such values: tell the sources apart by their command or url",
        )
    return entry


def _before(path: Path) -> ToolLock:
    try:
        return read_lock(path)
    except SchemaError:  # a damaged file is what this command mends
        return ToolLock()
