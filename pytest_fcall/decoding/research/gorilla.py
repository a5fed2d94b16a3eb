"""The decoder `gorilla`: `<<function>>f(a=1)<<function>>g(b="x")`, or the bare call of the first model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.core.reply import Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.decoding.argument_values import tools_by_name
from pytest_fcall.decoding.call_marks import OPENFUNCTIONS
from pytest_fcall.decoding.model_text import CallCollector, split_thinking
from pytest_fcall.decoding.python_calls import call_nodes, collect_calls, collect_only_calls
from pytest_fcall.decoding.python_source import NotPython, expression_end
from pytest_fcall.decoding.unreadable_text import quote_short


def decode(text: str, tools: Sequence[Tool] = ()) -> Calls:
    """Read the call after each mark; without a mark, a text of calls and nothing else."""
    offered = tools_by_name(tools)
    collector = CallCollector()
    thinking, text = split_thinking(text)
    collector.skip_thinking(thinking)
    start = text.find(OPENFUNCTIONS)
    if start < 0:
        if not collect_only_calls(bare := text.strip(), offered, collector):
            collector.skip_prose(bare)
        return collector.result()
    collector.skip_prose(text[:start])
    while start >= 0 and not collector.is_full:
        start += len(OPENFUNCTIONS)
        try:
            end = expression_end(text, start)
        except NotPython as error:
            collector.add_fault(f"A call cannot be read: {error} ({quote_short(text[start : start + 60])}).")
            break
        _read(text[start:end].strip(), offered, collector)
        start = text.find(OPENFUNCTIONS, end)
        collector.skip_prose(text[end : start if start >= 0 else len(text)].strip("\n ,;"))
    return collector.result()


def _read(source: str, offered: Mapping[str, Tool], collector: CallCollector) -> None:
    try:
        nodes, error = call_nodes(source), "it is not a tool call"
    except NotPython as reason:
        nodes, error = None, str(reason)
    if nodes:
        collect_calls(nodes, offered, collector)
    else:
        collector.add_fault(f"The call {quote_short(source)} cannot be read: {error}.")
