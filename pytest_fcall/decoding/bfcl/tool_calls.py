"""Native tool calls as BFCL's result files keep them: a list of `{name: JSON text of the arguments}`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from json.decoder import JSONDecoder

from pytest_fcall.decoding.bfcl.undecodable import Undecodable


def decode_fc(raw: object) -> list[dict[object, object]]:
    """Read the first key of every item; arguments may be any JSON, NaN included."""
    if not raw and isinstance(raw, str | Mapping):
        return []  # no items to read, so that nothing can be wrong with them
    if not isinstance(raw, list | tuple):
        raise Undecodable(f"the tool calls are of type {type(raw).__name__}, not a list")
    try:
        return [_call(item) for item in raw]
    except RecursionError:
        raise Undecodable("the arguments are nested too deep") from None
    except ValueError as error:
        raise Undecodable(f"the arguments are not JSON: {error}") from None


_read = JSONDecoder().raw_decode


def _call(item: object) -> dict[object, object]:
    if not isinstance(item, dict) or not item:
        raise Undecodable("a tool call is not an object with a name")
    name, text = next(iter(item.items()))
    if isinstance(text, str) and text.startswith("{"):
        value, end = _read(text)  # spares the search for options and white space
        if end == len(text):
            return {name: value}
    elif not isinstance(text, str | bytes | bytearray):
        raise Undecodable(f"arguments are of type {type(text).__name__}, not JSON text")
    return {name: json.loads(text)}
