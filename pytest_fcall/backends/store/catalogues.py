"""Tool catalogues: each is kept once, by its digest."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

from pytest_fcall.backends.fields import Damaged
from pytest_fcall.backends.lines import row_of, tools_line, tools_of
from pytest_fcall.core import Tool, catalogue_digest

Tools = tuple[Tool, ...]


class Catalogues:
    """Remembers the catalogues that cases share, so that none is read twice."""

    def __init__(self) -> None:
        self._tools: dict[str, Tools] = {}

    def put(self, connection: sqlite3.Connection, digest: str, tools: Tools) -> None:
        """Write the catalogue where it is not written yet, or is damaged."""
        if not self._has(connection, digest):
            connection.execute(
                "INSERT OR REPLACE INTO catalogues VALUES (?, ?)", (digest, tools_line(digest, tools).encode())
            )
            self._tools[digest] = tools

    def _has(self, connection: sqlite3.Connection, digest: str) -> bool:
        """A catalogue that was read once is sound; another process may have forgotten it, though."""
        if digest in self._tools:
            return connection.execute("SELECT 1 FROM catalogues WHERE digest = ?", (digest,)).fetchone() is not None
        with suppress(Damaged):
            self.get(connection, digest)
        return digest in self._tools

    def get(self, connection: sqlite3.Connection, digest: str) -> Tools:
        """Read a catalogue. Raises Damaged where it is not there, or not as it was written."""
        if digest not in self._tools:
            found = connection.execute("SELECT tools FROM catalogues WHERE digest = ?", (digest,)).fetchone()
            if found is None:
                raise Damaged("the tools of a reply are missing")
            self._tools[digest] = read_catalogue(digest, found[0])
        return self._tools[digest]


def read_catalogue(digest: str, line: bytes) -> Tools:
    """Raises Damaged where the line is not the catalogue of this digest."""
    tools = tools_of(row_of(line))
    if catalogue_digest(tools) != digest:
        raise Damaged("a catalogue of tools was changed on the disk")
    return tools
