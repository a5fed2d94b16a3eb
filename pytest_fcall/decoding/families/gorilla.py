"""Gorilla OpenFunctions: `<<function>>f(a=1)<<function>>g(b="x")`; its first version wrote the bare call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.core.reply import Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.decoding.call_collector import CallCollector
from pytest_fcall.decoding.call_marks import OPENFUNCTIONS
from pytest_fcall.decoding.positional_arguments import tools_by_name
from pytest_fcall.decoding.python.calls import call_nodes, collect_calls
from pytest_fcall.decoding.python.source import NotPython, expression_end
from pytest_fcall.decoding.text_parts import split_thinking
from pytest_fcall.decoding.unreadable import shortened


def decode(text: str, tools: Sequence[Tool] = ()) -> Calls:
    """Read what stands behind each mark; without a mark, a text that is calls and nothing else."""
    offered = tools_by_name(tools)
    found = CallCollector()
    thought, text = split_thinking(text)
    found.thought(thought)
    start = text.find(OPENFUNCTIONS)
    if start < 0:
        _read_bare(text.strip(), offered, found)
        return found.result()
    found.prose(text[:start])
    while start >= 0 and not found.is_full:
        start += len(OPENFUNCTIONS)
        try:
            end = expression_end(text, start)
        except NotPython as error:
            found.fault(f"A call cannot be read: {error} ({shortened(text[start : start + 60])}).")
            break
        _read(text[start:end].strip(), offered, found)
        start = text.find(OPENFUNCTIONS, end)
        found.prose(text[end : start if start >= 0 else len(text)].strip("\n ,;"))
    return found.result()


def _read(source: str, offered: Mapping[str, Tool], found: CallCollector) -> None:
    try:
        items, error = call_nodes(source), "it is no call of a tool"
    except NotPython as reason:
        items, error = None, str(reason)
    if items:
        collect_calls(items, offered, found)
    else:
        found.fault(f"The call {shortened(source)} cannot be read: {error}.")


def _read_bare(text: str, offered: Mapping[str, Tool], found: CallCollector) -> None:
    try:
        items = call_nodes(text)
    except NotPython:
        items = None
    if items is None:
        found.prose(text)
    else:
        collect_calls(items, offered, found)
