"""Faults and locations in case files as text."""

from __future__ import annotations

from pathlib import PurePath

from pytest_fcall.core.case import Fault, Location
from pytest_fcall.reporting.safe_text import safe, safe_line
from pytest_fcall.reporting.terminal import column_count

_BEFORE, _AFTER = 70, 30
"""Characters of a long line that are shown before and after the column of the fault."""


def fault_text(fault: Fault, root: PurePath | None = None) -> str:
    """The place, the message and the hint of a fault, and its line with a caret under the column.

    Paths below `root` are written relative to it.
    """
    at = fault.location
    lines = [f"{file_path_text(at, root)}:{at.line}:{at.column}: {safe(fault.message)}"]
    if fault.source.strip():
        lines += _pointed_at(fault.source.rstrip("\r\n"), at.column - 1)
    if fault.hint:
        lines.append(f"  hint: {safe(fault.hint)}")
    return "\n".join(lines)


def file_path_text(location: Location, root: PurePath | None = None) -> str:
    """The path of the file, relative to `root` if it is below it."""
    path = PurePath(location.path)
    if root is not None and path.is_relative_to(root):
        path = path.relative_to(root)
    return safe_line(path.as_posix())


def location_text(location: Location) -> str:
    """`cases/weather.fc.yaml:14 `, or nothing for a case that is not from a file."""
    return f"{file_path_text(location)}:{location.line} " if location.path else ""


def _pointed_at(source: str, column: int) -> list[str]:
    column = min(max(column, 0), len(source))
    start = max(column - _BEFORE, 0)
    before = ("…" if start else "") + safe_line(source[start:column])
    after = safe_line(source[column : column + _AFTER]) + ("…" if column + _AFTER < len(source) else "")
    return [f"  {before}{after}", f"  {' ' * column_count(before)}^"]
