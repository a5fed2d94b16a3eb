"""The decoder `auto`: chooses the decoder by the marks in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fcall.core.reply import Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.decoding.call_marks import FAMILY_MARKS, OPENFUNCTIONS, find_mark
from pytest_fcall.decoding.decoders import FORMAT_DECODERS

_TOOLBENCH = re.compile(r"\s*+(?:Actions?:\s*+)?(?:1\.\s*+)?(?:curl -X |API\.|Agent\.)")
_API_BLEND_JSON = re.compile(r'\s*+\[?\s*+\{\s*+"API"\s*+:')
_API_BLEND = re.compile(r"\s*+[^\W\d][\w.]*+\([^\n]*\)\s*+\[SEP\]")


def decode(text: str, tools: Sequence[Tool] = ()) -> Calls:
    """Read the calls with the only decoder that can; a note names it.

    A text that several decoders read differently is malformed, and so is one with marks that no decoder can read.
    """
    marked = tuple(_decoders_by_mark(text))
    readings = {name: FORMAT_DECODERS[name](text, tools) for name in marked or _decoders_without_mark(text)}
    clean = {name: calls for name, calls in readings.items() if calls.calls and calls.malformed is None}
    if clean:
        return _only_reading(clean)
    if not marked and find_mark(text) is None:
        readings = {name: calls for name, calls in readings.items() if calls.calls or _is_attempt(name, text, tools)}
    failed = ((name, calls) for name, calls in readings.items() if calls.malformed or calls.notes)
    return next((_with_name(name, calls) for name, calls in failed), Calls())


def _decoders_by_mark(text: str) -> Iterator[str]:
    """The decoders whose marks are in the text."""
    if OPENFUNCTIONS in text:
        yield "gorilla"
    present = {name: [mark in text for mark in marks] for name, marks in FAMILY_MARKS.items()}
    # `<tool_call>` alone may be the first mark of one family and the last of another.
    yield from sorted((name for name in present if any(present[name])), key=lambda name: present[name].index(True))


def _decoders_without_mark(text: str) -> Iterator[str]:
    """The decoders to try on a text without marks."""
    if _TOOLBENCH.match(text):
        yield "toolbench"
    elif _API_BLEND.match(text):
        yield "api_blend_sgd"
    elif _API_BLEND_JSON.match(text):
        yield "api_blend_atis"
    else:
        if "{" in text:
            yield from ("json", "llama")
        yield "python"


def _is_attempt(name: str, text: str, tools: Sequence[Tool]) -> bool:
    """Whether a fault is worth reporting: `json` finds all prose malformed, and `llama` any object with a name."""
    return name != "json" and (name != "llama" or any(f'"{tool.name}"' in text for tool in tools))


def _only_reading(clean: Mapping[str, Calls]) -> Calls:
    (name, calls), *others = clean.items()
    if other := next((other for other, reading in others if reading.calls != calls.calls), None):
        return Calls(malformed=f"The text can be read by `{name}` and differently by `{other}`: set a `decoder:`.")
    return _with_name(name, calls)


def _with_name(name: str, calls: Calls) -> Calls:
    return replace(calls, notes=(f"The text was read as `{name}`.", *calls.notes))
