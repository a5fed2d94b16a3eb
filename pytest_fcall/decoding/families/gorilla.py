"""Gorilla OpenFunctions: `<<function>>f(a=1)<<function>>g(b="x")`; its first version wrote the bare call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.core.call import Calls
from pytest_fcall.core.tool import Tool
from pytest_fcall.decoding.answer import parted
from pytest_fcall.decoding.call_marks import OPENFUNCTIONS
from pytest_fcall.decoding.gathering import Gathering
from pytest_fcall.decoding.positional import by_name
from pytest_fcall.decoding.python.calls import calls_in, take
from pytest_fcall.decoding.python.scanning import end_of
from pytest_fcall.decoding.python.source import NotPython
from pytest_fcall.decoding.wording import shortened


def decode(text: str, tools: Sequence[Tool] = ()) -> Calls:
    """Read what stands behind each mark; without a mark, a text that is calls and nothing else."""
    offered = by_name(tools)
    found = Gathering()
    thought, text = parted(text)
    found.thought(thought)
    start = text.find(OPENFUNCTIONS)
    if start < 0:
        _read_bare(text.strip(), offered, found)
        return found.result()
    found.prose(text[:start])
    while start >= 0 and not found.is_full:
        start += len(OPENFUNCTIONS)
        try:
            end = end_of(text, start)
        except NotPython as error:
            found.fault(f"A call cannot be read: {error} ({shortened(text[start : start + 60])}).")
            break
        _read(text[start:end].strip(), offered, found)
        start = text.find(OPENFUNCTIONS, end)
        found.prose(text[end : start if start >= 0 else len(text)].strip("\n ,;"))
    return found.result()


def _read(source: str, offered: Mapping[str, Tool], found: Gathering) -> None:
    try:
        items, error = calls_in(source), "it is no call of a tool"
    except NotPython as reason:
        items, error = None, str(reason)
    if items:
        take(items, offered, found)
    else:
        found.fault(f"The call {shortened(source)} cannot be read: {error}.")


def _read_bare(text: str, offered: Mapping[str, Tool], found: Gathering) -> None:
    try:
        items = calls_in(text)
    except NotPython:
        items = None
    if items is None:
        found.prose(text)
    else:
        take(items, offered, found)
