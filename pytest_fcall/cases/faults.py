"""Faults: mistakes in a file, each with its position and a hint."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from yaml import Node

from pytest_fcall.core.case import Fault, Location

_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_LONGEST_QUOTE = 60
_LONGEST_MESSAGE = 600


class UnreadableFile(Exception):
    """Nothing in the file can be read: broken YAML, not text, no cases."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"{fault.location.path}:{fault.location.line}:{fault.location.column}: {fault.message}")
        self.fault = fault


class Mark(Protocol):
    """A position that the parser gives: line and column from 0."""

    @property
    def line(self) -> int:
        """The line."""

    @property
    def column(self) -> int:
        """The column in it."""


class TextPosition(NamedTuple):
    """A line and a column, from zero."""

    line: int
    column: int


class SourceFile:
    """The text of a file, and the path that messages show. Python values have no text."""

    def __init__(self, path: str, text: str = "") -> None:
        self.path = path
        self.text = text
        self.uses_clock = "{now" in text
        """Whether the text may contain the placeholder of the clock; if not, its cases need not be searched for it."""
        self._lines: list[str] | None = None

    def line(self, number: int) -> str:
        """The text of a line; lines count from one."""
        if self._lines is None:
            self._lines = _BREAK.split(self.text)
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    def place(self, offset: int) -> TextPosition:
        """The line and column of an offset in the text."""
        before = self.text[:offset]
        return TextPosition(before.count("\n"), offset - (before.rfind("\n") + 1))

    def location(self, place: Node | Mark | None) -> Location:
        """The start of a node, or of the file."""
        mark = place.start_mark if isinstance(place, Node) else place
        return Location(self.path) if mark is None else Location(self.path, mark.line + 1, mark.column + 1)

    def fault(self, code: str, place: Node | Mark | None, message: str, hint: str = "") -> Fault:
        """A fault at a node of this file."""
        location = self.location(place)
        return Fault(code, location, _one_line(message), self.line(location.line), _one_line(hint))


class Faults(list[Fault]):
    """The faults of one part of a file. Readers add to it and read on, so that all faults are reported at once."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__()
        self.source = source

    def add(self, code: str, place: Node | None, message: str, hint: str = "") -> None:
        """Add a fault at a node."""
        self.append(self.source.fault(code, place, message, hint))


def quote(text: str) -> str:
    """A name or value for a message: in back quotes, printable, shortened."""
    short = text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…"
    return f"`{_printable(short)}`"


def one_of(names: Iterable[str]) -> str:
    """A hint that lists the allowed names."""
    return "one of: " + ", ".join(names)


def _one_line(text: str) -> str:
    """The message as one printable line; messages of exceptions may be long and have several."""
    if text.isprintable() and len(text) <= _LONGEST_MESSAGE:
        return text
    short = " ".join(text[: 2 * _LONGEST_MESSAGE].split())
    return _printable(short if len(short) <= _LONGEST_MESSAGE else short[: _LONGEST_MESSAGE - 1] + "…")


def _printable(text: str) -> str:
    return text if text.isprintable() else "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
