"""The end of a log, for whoever wants to know why a process has ended."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_LINES = 5
_SHOWN = 500


_SILENT = "it said nothing, as if it had been killed; is there enough memory?"


def tail(log: Path, silent: str = _SILENT) -> str:
    """The last lines, in one; `silent` where there are none."""
    with suppress(OSError):
        lines = log.read_text("utf-8", "replace").split("\n")
        if told := [" ".join(line.split()) for line in lines if line.strip()][-_LINES:]:
            return f"its last words: {' / '.join(told)[-_SHOWN:]} (more in {log})"
    return silent
