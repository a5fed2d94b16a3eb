"""Faults in case files, as text."""

from __future__ import annotations

from pathlib import PurePath

from pytest_fcall.core import Fault, Location
from pytest_fcall.reporting.safe_text import safe, safe_line
from pytest_fcall.reporting.terminal import column_count

_BEFORE, _AFTER = 70, 30
"""How many characters of a long line are shown on either side of the fault."""


def fault_text(fault: Fault, root: PurePath | None = None) -> str:
    """Say where the mistake is, what is wrong, and what to do; the line is shown with a caret under the column.

    Paths below `root` are given relative to it.
    """
    at = fault.location
    lines = [f"{file_path_text(at, root)}:{at.line}:{at.column}: {safe(fault.message)}"]
    if fault.source.strip():
        lines += _pointed_at(fault.source.rstrip("\r\n"), at.column - 1)
    if fault.hint:
        lines.append(f"  hint: {safe(fault.hint)}")
    return "\n".join(lines)


def file_path_text(location: Location, root: PurePath | None = None) -> str:
    """Name the file, relative to `root` where it lies below it."""
    path = PurePath(location.path)
    if root is not None and path.is_relative_to(root):
        path = path.relative_to(root)
    return safe_line(path.as_posix())


def _pointed_at(source: str, column: int) -> list[str]:
    column = min(max(column, 0), len(source))
    start = max(column - _BEFORE, 0)
    before = ("…" if start else "") + safe_line(source[start:column])
    after = safe_line(source[column : column + _AFTER]) + ("…" if column + _AFTER < len(source) else "")
    return [f"  {before}{after}", f"  {' ' * column_count(before)}^"]
