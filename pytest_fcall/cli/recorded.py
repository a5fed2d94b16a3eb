"""What the parts of `fcall record` share."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fcall.cli.project import root_of
from pytest_fcall.core import Fault
from pytest_fcall.reporting import safe_line
from pytest_fcall.reporting.fault import fault_text


@dataclass(slots=True)
class Records:
    """The files and folders that the command line names, and how the command fares."""

    root: Path
    paths: Sequence[Path]
    status: int = 0

    @classmethod
    def of(cls, paths: Sequence[Path]) -> Records:
        """Find the root of the paths."""
        return cls(root_of(paths), paths)

    def names(self, path: Path) -> bool:
        """Whether `path` is one of the paths, or below one."""
        inner = Path(os.path.normpath(path))
        return any(inner.is_relative_to(os.path.normpath(named)) for named in self.paths)

    def from_root(self, path: Path) -> str:
        """`path` as the store has it."""
        return (path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix()

    def say(self, path: Path, text: str) -> None:
        """Tell what became of a file."""
        print(safe_line(f"{self.from_root(path)}: {text}"))

    def fault(self, fault: Fault) -> None:
        """Tell what is wrong in a file."""
        print(fault_text(fault, self.root), file=sys.stderr)
        self.status = 1

    def problem(self, text: str) -> None:
        """Tell what is wrong elsewhere."""
        print(f"fcall record: {safe_line(text)}", file=sys.stderr)
        self.status = 1
