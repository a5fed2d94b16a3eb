"""Gathering mistakes with the places to mend them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Protocol

from yaml import Node

from pytest_fcall.core import Fault, Location

_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_SHOWN = 60
_LONGEST = 600


class UnreadableFile(Exception):
    """Nothing in the file can be read: broken YAML, not text, no cases."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"{fault.location.path}:{fault.location.line}:{fault.location.column}: {fault.message}")
        self.fault = fault


class _Mark(Protocol):
    line: int
    column: int


class SourceFile:
    """A file's text, and the name by which people know it. Python values have no text."""

    def __init__(self, path: str, text: str = "") -> None:
        self.path = path
        self.text = text
        self.names_clock = "{now" in text
        """Whether the clock may be written anywhere; most files need not be searched for it case by case."""
        self._lines: list[str] | None = None

    def line(self, number: int) -> str:
        """The text of a line; lines count from one, as in YAML."""
        if self._lines is None:
            self._lines = _BREAK.split(self.text)
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    def location(self, place: Node | _Mark | None) -> Location:
        """Where a node begins."""
        mark = place.start_mark if isinstance(place, Node) else place
        return Location(self.path) if mark is None else Location(self.path, mark.line + 1, mark.column + 1)

    def fault(self, code: str, place: Node | _Mark | None, message: str, hint: str = "") -> Fault:
        """One mistake in this file."""
        location = self.location(place)
        return Fault(code, location, _one_line(message), self.line(location.line), _one_line(hint))


class Faults:
    """The mistakes found in one part of a file. Reading goes on after each, so that all are found at once."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.found: list[Fault] = []

    def add(self, code: str, place: Node | None, message: str, hint: str = "") -> None:
        """Note a mistake."""
        self.found.append(self.source.fault(code, place, message, hint))

    def part(self) -> Faults:
        """An empty collector for another part of the same file."""
        return Faults(self.source)


def shown(text: str) -> str:
    """A name or value as it stands in a message: in back quotes, printable and not too long."""
    short = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return f"`{_printable(short)}`"


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    if len(name) > 2 * _SHOWN:
        return None
    lowered: dict[str, str] = {}
    for option in known:
        lowered.setdefault(option.lower(), option)
    close = difflib.get_close_matches(name.lower(), lowered, n=1)
    return lowered[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint where one of the known names is close to `name`, else the empty text."""
    meant = closest(name, known)
    return "" if meant is None else f"did you mean {shown(meant)}?"


def one_of(names: Iterable[str]) -> str:
    """The names that may stand in a place, for a hint."""
    return "one of: " + ", ".join(names)


def _one_line(text: str) -> str:
    """A message as one line, whatever an exception of somebody else's put into it."""
    if text.isprintable() and len(text) <= _LONGEST:
        return text
    short = " ".join(text[: 2 * _LONGEST].split())
    return _printable(short if len(short) <= _LONGEST else short[: _LONGEST - 1] + "…")


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
