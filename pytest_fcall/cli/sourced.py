"""Case files one after the other, and those whose tools come from MCP servers and addresses."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from pytest_fcall.cases import CaseFile, UnreadableFile, read_case_file, tool_sources
from pytest_fcall.cli.project import Project
from pytest_fcall.core import Fault, Json
from pytest_fcall.reporting import fault_text, safe
from pytest_fcall.schema import SchemaError

_T = TypeVar("_T")
_Got_co = TypeVar("_Got_co", covariant=True)


class _Read(Protocol[_Got_co]):
    def __call__(self, path: Path, *, root: Path) -> _Got_co: ...


@dataclass(frozen=True, slots=True)
class Problems:
    """What went wrong on the way; told at the end, so that one dead server does not hide what others say."""

    told: list[str] = field(default_factory=list)

    def refusal(self, where: str, error: SchemaError) -> None:
        """Note what a source, or a lock file, has against being used."""
        hint = f"\n  hint: {error.hint}" if error.hint else ""
        self.told.append(safe(f"{where}: {error.message}{hint}"))

    def fault(self, fault: Fault, project: Project) -> None:
        """Note a mistake in a case file."""
        self.told.append(fault_text(fault, project.root))

    def tell(self) -> None:
        """Print them all."""
        for text in self.told:
            print(text, file=sys.stderr)


def read_files(project: Project, problems: Problems) -> Iterator[CaseFile]:
    """All case files that can be read; what is wrong with them is noted."""
    for _, found in _each(project, problems, read_case_file):
        for fault in found.faults:
            problems.fault(fault, project)
        yield found


def sourced_files(project: Project, problems: Problems) -> Iterator[tuple[Path, Sequence[Mapping[str, Json]]]]:
    """Case files that name servers or addresses, with these."""
    return (each for each in _each(project, problems, tool_sources) if each[1])


def _each(project: Project, problems: Problems, read: _Read[_T]) -> Iterator[tuple[Path, _T]]:
    """What is read of each file that means to hold cases; why one cannot be read is noted."""
    for path in project.files:
        try:
            found = read(path, root=project.root)
        except UnreadableFile as unreadable:
            if project.means_cases(path, unreadable.fault):
                problems.fault(unreadable.fault, project)
        else:
            yield path, found
