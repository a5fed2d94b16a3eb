"""Two versions of the tools of case files: where each version of a file with tools is read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.files import anywhere
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.cli.project import Project
from pytest_fcall.cli.tools.sources import ProblemList, SourceClient, sources_with_users
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.lock_file import LockEntry, catalogue_lock_path, source_key, write_lock
from pytest_fcall.tracking.revision import file_at_revision

TODAY = "today"
TASK, NOTES, RESULTS = "task.json", "notes.json", "run.json"
"""The files by which the process that runs the cases is told what to do, and tells what it found."""
_LOCK_SUFFIX = ".lock.json"
_OPENAPI = re.compile(rb"^(openapi|swagger)\s*:|\A\s*\{\s*\"(openapi|swagger)\"", re.MULTILINE)


class NoSide(ValueError):
    """A version of tools cannot be had. The text says why, and what to do."""


class SilentServer(NoSide):
    """A server that was asked for its tools does not say them now."""


@dataclass(frozen=True, slots=True)
class ToolSide:
    """A version of the tools: the files as they are, but for those that others stand for."""

    title: str
    root: str
    folder: str
    """A private folder, for what is read from elsewhere and for what a run with these tools finds."""
    revision: str = ""
    """The git revision that all files below the root are read at; empty for none."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Real paths of files with tools, and the files that stand for them."""

    def tool_file(self, path: Path) -> Path:
        """The file that tools are read from in place of this one; it may not exist."""
        real, root = Path(os.path.realpath(path)), Path(os.path.realpath(self.root))
        if not self.revision or not real.is_relative_to(root):
            return Path(self.files.get(str(real), real))
        written = Path(self.folder, "files", real.relative_to(root))
        if not written.exists() and (content := file_at_revision(self.revision, real)) is not None:
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_bytes(content)
        return written

    def lacks(self, path: Path) -> bool:
        """Whether this file is new since the revision."""
        return bool(self.revision) and not self.tool_file(path).exists()


def side_of(name: str, project: Project, folder: Path, client: SourceClient) -> ToolSide:
    """The version of a name: `today`, `git:REVISION`, `live`, `FILE` or `NAMED=FILE`. Raises NoSide."""
    if name == TODAY:
        return ToolSide("today", str(project.root), str(folder))
    if name == "live":
        return ToolSide("the servers now", str(project.root), str(folder), files=_live_locks(project, folder, client))
    if name.startswith("git:"):
        revision = name.removeprefix("git:")
        try:
            file_at_revision(revision, project.files[0])
        except ValueError as error:
            raise NoSide(str(error)) from None
        return ToolSide(name, str(project.root), str(folder), revision)
    return ToolSide(name, str(project.root), str(folder), files=dict(_given_file(name, project)))


def _live_locks(project: Project, folder: Path, client: SourceClient) -> dict[str, str]:
    """Lock files of what agents, servers and URLs say now, by those that they stand for. Raises NoSide."""
    problems = ProblemList(project)
    entries: dict[Path, dict[str, LockEntry]] = {}
    for source, _ in sources_with_users(project, problems):
        try:
            entry = LockEntry(source.key, tuple(client.tools(source.key, source.file.parent)))
            entries.setdefault(source.lock, {})[source_key(source.key)] = entry
        except SchemaError as error:
            problems.add_schema_error(project.relative(source.file), error)
    if problems.messages:
        raise SilentServer("\n".join(problems.messages))
    if not entries:
        raise NoSide("no case file names an agent, an MCP server or the URL of an OpenAPI document")
    files = {}
    for number, (lock, of_lock) in enumerate(entries.items()):
        files[os.path.realpath(lock)] = str(folder / f"{number}{_LOCK_SUFFIX}")
        write_lock(folder / f"{number}{_LOCK_SUFFIX}", of_lock.values())
    return files


def _given_file(name: str, project: Project) -> Iterator[tuple[str, str]]:
    """The file that another one stands for, and that one; their lock files, too. Raises NoSide."""
    named, _, given = name.rpartition("=")
    path = Path(os.path.realpath(given))
    if not path.is_file():
        raise NoSide(f"no such file: {given}")
    known = _tool_files(project)
    fitting = [Path(os.path.realpath(named))] if named else [path] if path in known else _alike(path, known)
    if len(fitting) != 1 or fitting[0] not in known:
        names = ", ".join(project.relative(each) for each in known) or "none"
        raise NoSide(f"it is not clear which file it stands for: write NAMED={given}; files with tools: {names}")
    yield str(fitting[0]), str(path)
    if (lock := catalogue_lock_path(path)).is_file():
        yield str(catalogue_lock_path(fitting[0])), str(lock)


def _alike(path: Path, known: list[Path]) -> list[Path]:
    """The files with tools of the same kind; of several the only one of the same name, or with a lock file as well."""
    alike = [each for each in known if _kind(each) == _kind(path)]
    by_name = [each for each in alike if each.name == path.name]
    by_lock = [each for each in alike if catalogue_lock_path(each).is_file() == catalogue_lock_path(path).is_file()]
    return next((found for found in (alike, by_name, by_lock) if len(found) == 1), alike)


def _kind(path: Path) -> str:
    """Lock files, OpenAPI documents, other JSON, other YAML."""
    if path.name.endswith(_LOCK_SUFFIX):
        return _LOCK_SUFFIX
    with suppress(OSError):
        if _OPENAPI.search(path.read_bytes()):
            return "openapi"
    return path.suffix.replace(".yml", ".yaml")


def _tool_files(project: Project) -> list[Path]:
    """The files that the tools of cases are read from, each once."""
    found: dict[Path, None] = {}

    def note(path: Path) -> Path:
        found[Path(os.path.realpath(path))] = None
        return path

    for path in project.files:
        with suppress(UnreadableFile):  # the run says so
            extensions = Extensions(tool_file=note)
            read_case_file(path, root=project.root, outside=anywhere(path), extensions=extensions)
    return [*found]
