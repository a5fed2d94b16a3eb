"""The decoders `json`, `openai` and `anthropic`: text that is JSON, or has it in fenced blocks.

Models bound by a grammar answer so. An empty list means that the model wants no call.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from pytest_fcall.core.reply import Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.json_shapes import message_parts, read_call
from pytest_fcall.decoding.model_text import FENCE, CallCollector, markdown_pieces, split_thinking
from pytest_fcall.decoding.strict_json import NotJson, parse_json

_BLOCKS = frozenset({"", "json", "jsonl", "tool_call", "tool_calls", "tool_code", "text", "plaintext"})


def decode(text: str, _tools: Sequence[Tool] = ()) -> Calls:
    """Read the calls, in any known shape; any other text is malformed."""
    collector = CallCollector()
    try:
        value = json_value_in(text, collector)
    except NotJson as error:
        return Calls(malformed=f"The text is not JSON: {error}.")
    try:
        message = message_parts(value)
    except NotJson as error:
        collector.add_fault(f"The message cannot be read: {error}.")
        return collector.result()
    for item in message.calls:
        collector.add_call(partial(read_call, item))
    collector.skip_prose(message.text)
    return collector.result()


def json_value_in(text: str, collector: CallCollector) -> Json:
    """Give the JSON value of the text, of the blocks in it, or of its lines. Raises NotJson where there is none."""
    try:
        return _parsed(text, collector)
    except NotJson:
        thinking, text = split_thinking(text)
        collector.skip_thinking(thinking)
        blocks = _blocks(text, collector) if FENCE in text else []
        return _joined([_block_value(block, collector) for block in blocks or [text]])


def _block_value(text: str, collector: CallCollector) -> Json:
    """The value of a block, or of its lines."""
    try:
        return _parsed(text, collector)
    except NotJson:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) > 1:
            with suppress(NotJson):
                return _joined([_parsed(line, collector) for line in lines])
        raise


def _blocks(text: str, collector: CallCollector) -> list[str]:
    blocks: list[str] = []
    for piece in markdown_pieces(text):
        if piece.info not in _BLOCKS:
            collector.skip_prose(piece.text)
            continue
        blocks.append(piece.text)
        if not piece.closed:
            collector.add_note("The fenced block is not closed.")
    return blocks


def _parsed(text: str, collector: CallCollector) -> Json:
    value, notes = parse_json(text)
    collector.add_note(*notes)
    return value


def _joined(values: Sequence[Json]) -> Json:
    """One list of the calls in several values; a single value is itself."""
    if len(values) == 1:
        return values[0]
    return [item for value in values for item in (value if isinstance(value, list) else [value])]
