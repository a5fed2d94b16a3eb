"""Finds out by its marks which family of models wrote a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fcall.core.reply import Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.decoding.call_marks import OPENFUNCTIONS, find_mark
from pytest_fcall.decoding.decoders import DECODERS
from pytest_fcall.decoding.tagged.families import FAMILIES

_TOOLBENCH = re.compile(r"\s*+(?:Actions?:\s*+)?(?:1\.\s*+)?(?:curl -X |API\.|Agent\.)")
_API_BLEND_JSON = re.compile(r'\s*+\[?\s*+\{\s*+"API"\s*+:')
_API_BLEND = re.compile(r"\s*+[^\W\d][\w.]*+\([^\n]*\)\s*+\[SEP\]")


def decode(text: str, tools: Sequence[Tool] = ()) -> Calls:
    """Read the calls as the decoder does that alone can read them; a note says which.

    What several decoders read differently, or none can though it shows the marks of a call, is malformed.
    """
    marked = tuple(_marked(text))
    readings = {name: DECODERS[name](text, tools) for name in marked or _unmarked(text)}
    clean = {name: calls for name, calls in readings.items() if calls.calls and calls.malformed is None}
    if clean:
        return _only(clean)
    if marked or find_mark(text) is not None:
        return _first_attempt(readings) or Calls()
    tried = {name: calls for name, calls in readings.items() if calls.calls or _is_attempt(name, text, tools)}
    return _first_attempt(tried) or Calls()


def _marked(text: str) -> Iterator[str]:
    """The decoders whose marks stand in the text."""
    if OPENFUNCTIONS in text:
        yield "gorilla"
    telling = {name: [mark in text for mark in family.marks] for name, family in FAMILIES.items()}
    # Where `<tool_call>` is all there is, it may be the first mark of one family and the last of another.
    yield from sorted((name for name in telling if any(telling[name])), key=lambda name: telling[name].index(True))


def _unmarked(text: str) -> Iterator[str]:
    """The decoders that come into question for a text without marks."""
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
    """Whether a fault is worth telling: all prose is malformed to `json`, and any object with a name to `llama`."""
    return name != "json" and (name != "llama" or any(f'"{tool.name}"' in text for tool in tools))


def _only(clean: Mapping[str, Calls]) -> Calls:
    (name, found), *others = clean.items()
    if other := next((other for other, calls in others if calls.calls != found.calls), None):
        return Calls(malformed=f"The text can be read by `{name}` and otherwise by `{other}`: name a `decoder:`.")
    return _read_as(name, found)


def _first_attempt(readings: Mapping[str, Calls]) -> Calls | None:
    tried = ((name, calls) for name, calls in readings.items() if calls.malformed or calls.notes)
    return next((_read_as(name, calls) for name, calls in tried), None)


def _read_as(name: str, calls: Calls) -> Calls:
    return replace(calls, notes=(f"The text was read as `{name}`.", *calls.notes))
