"""Docstrings in Google, NumPy and Sphinx style."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_ARGUMENTS = frozenset(
    {
        "args",
        "arguments",
        "attributes",
        "keyword args",
        "keyword arguments",
        "other parameters",
        "parameters",
        "params",
    }
)
_SECTIONS = _ARGUMENTS | {
    "example",
    "examples",
    "note",
    "notes",
    "raises",
    "references",
    "return",
    "returns",
    "see also",
    "todo",
    "warning",
    "warnings",
    "warns",
    "yield",
    "yields",
}
_NAME = r"(?P<name>[\\*]*\w+)"
_GOOGLE_ENTRY = re.compile(_NAME + r"\s*(?:\((?:[^()]|\([^()]*\))*\))?\s*:\s*(?P<text>.*)")
_NUMPY_ENTRY = re.compile(r"(?P<name>[\\*]*\w+(?:\s*,\s*[\\*]*\w+)*)\s*(?::.*)?(?P<text>)")
_SPHINX_FIELD = re.compile(r":[a-z]+(?:\s[^:]*)?:(?:\s|$)")
_SPHINX_ENTRY = re.compile(
    r":(?:param|parameter|arg|argument|key|keyword|ivar|var)\s+(?:[^:]*\s)?" + _NAME + r"\s*:\s*(?P<text>.*)"
)


@dataclass(frozen=True, slots=True)
class Docstring:
    """The description in a docstring, and those of the parameters by name."""

    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)


def read_docstring(text: str | None) -> Docstring:
    """Read a docstring. The description is the text before the first section or field."""
    lines = inspect.cleandoc(text or "").splitlines()
    end = next((index for index in range(len(lines)) if _ends_description(lines, index)), len(lines))
    entries = (*_entries(_google(lines), _GOOGLE_ENTRY), *_entries(_numpy(lines), _NUMPY_ENTRY), *_sphinx(lines))
    return Docstring("\n".join(lines[:end]).strip(), {name: words for name, words in entries if words})


def _ends_description(lines: Sequence[str], index: int) -> bool:
    line = lines[index]
    return _is_google(line, _SECTIONS) or _is_numpy(lines, index) or bool(_SPHINX_FIELD.match(line))


def _is_google(line: str, sections: frozenset[str]) -> bool:
    return line.endswith(":") and line[:-1].strip().lower() in sections and not line[0].isspace()


def _is_numpy(lines: Sequence[str], index: int) -> bool:
    under = lines[index + 1].strip() if index + 1 < len(lines) else ""
    return lines[index].strip().lower() in _SECTIONS and len(under) >= 3 and set(under) <= {"-", "="}


def _google(lines: Sequence[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        if line and not line[0].isspace():
            inside = _is_google(line, _ARGUMENTS)
            yield ""  # ends the last entry of a section
        elif inside:
            yield line


def _numpy(lines: Sequence[str]) -> Iterator[str]:
    inside = False
    for index, line in enumerate(lines):
        if _is_numpy(lines, index):
            inside = line.strip().lower() in _ARGUMENTS
        elif inside and not (index and _is_numpy(lines, index - 1)):
            yield line


def _sphinx(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    first = next((index for index, line in enumerate(lines) if _SPHINX_FIELD.match(line)), len(lines))
    return _entries(lines[first:], _SPHINX_ENTRY)


def _entries(lines: Iterator[str] | Sequence[str], entry: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """The names at the start of lines without indentation, each with its text, which indented lines continue."""
    names: list[str] = []
    words: list[str] = []
    for line in textwrap.dedent("\n".join(lines)).splitlines():
        if line and not line[0].isspace():
            yield from ((name, " ".join(words)) for name in names)
            found = entry.fullmatch(line.rstrip())
            names = [name.strip(" *\\") for name in found["name"].split(",")] if found else []
            words = [found["text"]] if found and found["text"] else []
        elif line.strip():
            words.append(line.strip())
    yield from ((name, " ".join(words)) for name in names)
