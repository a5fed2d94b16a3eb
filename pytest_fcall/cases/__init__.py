"""Reading case files: YAML with positions into cases, and every mistake with the place to mend it."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_fcall.cases.extensions import Extensions
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.python_values import ExpectationError, read_expectation
from pytest_fcall.cases.reader import CaseFile, read_case_file, read_case_text
from pytest_fcall.cases.request import plan_request
from pytest_fcall.cases.sources import tool_sources
from pytest_fcall.core import Json

__all__ = [
    "CaseFile",
    "ExpectationError",
    "Extensions",
    "UnreadableFile",
    "editor_schema",
    "plan_request",
    "read_case_file",
    "read_case_text",
    "read_expectation",
    "tool_sources",
]


def editor_schema(comparators: Iterable[str] = (), tool_sources: Iterable[str] = ()) -> dict[str, Json]:
    """The JSON Schema of case files, knowing by name the operators and tool sources that other packages add."""
    from pytest_fcall.cases.editor import editor_schema as build

    return build(comparators, tool_sources)
