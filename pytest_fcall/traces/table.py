"""The formats of JSON and YAML that are known, told apart by what is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.core import Json
from pytest_fcall.traces.formats import exchanges, inspect, langfuse, langsmith, otel, promptfoo
from pytest_fcall.traces.formats.promptfoo_files import with_files
from pytest_fcall.traces.record import Record, Unread


class Format(NamedTuple):
    """One kind of log."""

    title: str
    recognises: Callable[[Mapping[str, Json]], bool]
    read: Callable[[Mapping[str, Json], str], Iterator[Record | Unread]]
    gather: Callable[[Mapping[str, Json], Path], Mapping[str, Json]] | None = None
    """Puts in what the document has in other files, from the folder that it is in."""


FORMATS: Final[Sequence[Format]] = (
    Format("OpenTelemetry spans", otel.recognises, otel.read),
    Format("LangSmith runs", langsmith.recognises, langsmith.read),
    Format("Langfuse observations", langfuse.recognises, langfuse.read),
    Format("inspect_ai logs", inspect.recognises, inspect.read),
    Format("promptfoo configurations and results", promptfoo.recognises, promptfoo.read, with_files),
    Format("requests and answers of Chat Completions, Responses or Messages", exchanges.recognises, exchanges.read),
)

LOOKED_FOR: Final = ", ".join((*(each.title for each in FORMATS), "recorded replies"))


def format_of(told: Mapping[str, Json]) -> Format | None:
    """The format of a document; None where it is none."""
    return next((each for each in FORMATS if each.recognises(told)), None)
