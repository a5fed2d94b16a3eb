"""The tools that cases offer, of which the accounts of a run have each once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pytest_fcall.core import Tool, digest
from pytest_fcall.core.digests import IdentityKey
from pytest_fcall.tracking.question_digests import tool_digests
from pytest_fcall.tracking.run_accounts import KeptTool, tool_line, tool_set_line

_MOST_NAMED: Final = 1024
"""Sets whose names are kept: those of a file are shared, while a retriever makes one for each case."""


class OfferedTools:
    """Names sets of tools, and writes each set and each tool the first time that it is named in this process."""

    def __init__(self) -> None:
        self._names: dict[IdentityKey[tuple[Tool, ...]], str] = {}
        self._written: set[object] = set()

    def name(self, tools: tuple[Tool, ...]) -> tuple[str, Sequence[str]]:
        """The name of the set, and the lines that it needs; an empty name for no tools, or such as are no JSON."""
        if not tools:
            return "", ()
        key = IdentityKey(tools)
        if name := self._names.get(key):
            return name, ()
        if len(self._names) >= _MOST_NAMED:
            self._names.clear()
        try:
            digests = tool_digests(tools)
        except (ValueError, TypeError, RecursionError):  # of a case that ended in an error for the same reason
            return "", ()
        name = self._names[key] = digest(list(digests))[:16]
        return name, [*self._lines(name, tools, digests)]

    def _lines(self, name: str, tools: tuple[Tool, ...], digests: Sequence[tuple[str, str]]) -> Iterator[str]:
        for tool, named in zip(tools, digests, strict=True):
            if named not in self._written:
                self._written.add(named)
                yield tool_line(KeptTool(*named, tool.description, tool.parameters))
        if name not in self._written:
            self._written.add(name)
            yield tool_set_line(name, digests)
