"""Writing a case file and reading it back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent, indent

from pytest_fcall.cases.case_file import CaseFileContent, read_case_file
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.core import Case, Fault, FaultyCase

TOOLS = """\
tools:
  - name: get_weather
    parameters:
      type: object
      properties:
        city: {type: string}
        unit: {type: string, enum: [celsius, fahrenheit]}
        days: {type: integer}
      required: [city]
  - name: book
    parameters:
      type: object
      properties:
        flight: {type: string}
        seats: {type: array, items: {type: string}}
        key: {type: string}
        who:
          type: object
          properties: {name: {type: string}, age: {type: integer}}
          required: [name]
      required: [flight]
  - {name: ping, parameters: {type: object, properties: {}}}
"""
NOTHING = Extensions(decoders=frozenset({"json"}))


def read(text: str, folder: Path, extensions: Extensions = NOTHING) -> CaseFileContent:
    """Read a whole case file."""
    path = folder / "shop.fc.yaml"
    path.write_text(text, encoding="utf-8", newline="")
    return read_case_file(path, root=folder, extensions=extensions)


def with_cases(*cases: str, head: str = TOOLS) -> str:
    """A file of these cases, each without its leading dash."""
    items = (indent(dedent(case).strip("\n"), "    ") for case in cases)
    return f"{head}cases:\n" + "".join(f"  -\n{item}\n" for item in items)


def case(text: str, folder: Path, *, head: str = TOOLS, extensions: Extensions = NOTHING) -> Case:
    """The one case of a file, given without its leading dash and id."""
    found = read(with_cases(f"id: it\n{dedent(text)}", head=head), folder, extensions)
    assert found.faults == ()
    (only,) = found.entries
    assert isinstance(only, Case)
    return only


def faults(text: str, folder: Path, *, head: str = TOOLS, extensions: Extensions = NOTHING) -> tuple[Fault, ...]:
    """The faults of a file with one case, given without its leading dash and id."""
    return all_faults(with_cases(f"id: it\n{dedent(text)}", head=head), folder, extensions)


def all_faults(text: str, folder: Path, extensions: Extensions = NOTHING) -> tuple[Fault, ...]:
    """The faults of a file, also of one that cannot be read."""
    try:
        return read(text, folder, extensions).faults
    except UnreadableFile as unreadable:
        return (unreadable.fault,)


def ids(entries: Iterable[Case | FaultyCase]) -> dict[str, bool]:
    """Which cases there are, and whether they can be run."""
    return {entry.id: isinstance(entry, Case) for entry in entries}


def marked(text: str) -> tuple[str, int, int]:
    """The text without its mark `»`, and the line and column where the mark stood."""
    before, mark, after = text.partition("»")
    assert mark
    return before + after, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
