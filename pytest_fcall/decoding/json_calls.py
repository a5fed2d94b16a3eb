"""Text that is JSON and nothing else, or holds it in fenced blocks: calls, in any shape that is in use.

Models bound by a grammar answer so. An empty list says that no call is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from pytest_fcall.core.reply import Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.call_collector import CallCollector
from pytest_fcall.decoding.json_shapes import find_calls
from pytest_fcall.decoding.strict_json import NotJson, parse_json
from pytest_fcall.decoding.text_parts import FENCE, markdown_pieces, split_thinking

_BLOCKS = frozenset({"", "json", "jsonl", "tool_call", "tool_calls", "tool_code", "text", "plaintext"})


def decode(text: str, tools: Sequence[Tool] = ()) -> Calls:  # noqa: ARG001  the shape of every decoder
    """Read the calls; text that says anything else is malformed."""
    found = CallCollector()
    try:
        value = json_value_in(text, found)
    except NotJson as error:
        return Calls(malformed=f"The text is not JSON: {error}.")
    find_calls(value, found)
    return found.result()


def json_value_in(text: str, found: CallCollector) -> Json:
    """Give the value of the text, of the blocks in it, or of its lines; NotJson where there is none."""
    try:
        return _parsed(text, found)
    except NotJson:
        thought, text = split_thinking(text)
        found.thought(thought)
        blocks = _blocks(text, found) if FENCE in text else []
        return _joined([_lines(block, found) for block in blocks or [text]])


def _lines(text: str, found: CallCollector) -> Json:
    try:
        return _parsed(text, found)
    except NotJson:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) > 1:
            with suppress(NotJson):
                return _joined([_parsed(line, found) for line in lines])
        raise


def _blocks(text: str, found: CallCollector) -> list[str]:
    blocks: list[str] = []
    for piece in markdown_pieces(text):
        if piece.info not in _BLOCKS:
            found.prose(piece.text)
            continue
        blocks.append(piece.text)
        if not piece.closed:
            found.note("The fenced block is not closed.")
    return blocks


def _parsed(text: str, found: CallCollector) -> Json:
    value, notes = parse_json(text)
    found.note(*notes)
    return value


def _joined(values: Sequence[Json]) -> Json:
    """One list of the calls that stand in several values; a single value is itself."""
    if len(values) == 1:
        return values[0]
    return [item for value in values for item in (value if isinstance(value, list) else [value])]
