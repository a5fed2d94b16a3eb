"""A case about the weather, with an expectation to read."""

from __future__ import annotations

from pathlib import Path

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.core import Case

_TEXT = """
tools:
  - {{name: get_weather, parameters: {{type: object, properties: {{city: {{type: string}}}}}}}}
  - {{name: get_time}}
cases:
  - id: a
    prompt: Weather?
    tools: {{only: [get_time]}}
    {expectation}
"""


def read_with(folder: Path, expectation: str) -> tuple[Case | None, list[str]]:
    """The case and the faults of its file, each by its code and message."""
    path = folder / "a.fc.yaml"
    path.write_text(_TEXT.format(expectation=expectation), encoding="utf-8")
    found = read_case_file(path, root=folder)
    (entry,) = found.entries
    return entry if isinstance(entry, Case) else None, [f"{each.code} {each.message}" for each in found.faults]
