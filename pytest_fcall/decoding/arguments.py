"""The arguments of one call, as a wire or a text gave them."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core.values import Json
from pytest_fcall.decoding.strict_json import NotJson, check_plain, parse


def from_wire(raw: Json) -> tuple[Mapping[str, Json], tuple[str, ...]]:
    """Give the arguments and notes on what was read generously; NotJson says why they cannot be read.

    Wires send JSON text, some an object.
    """
    if isinstance(raw, str) and raw.strip():
        value, notes = parse(raw)
        return from_text(value), notes
    if raw is None or isinstance(raw, str):
        return {}, ("The arguments are empty; read as none.",)
    check_plain(raw)
    return from_text(raw), ()


def from_text(value: Json) -> Mapping[str, Json]:
    """Give the arguments of a call that was itself read from JSON."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, str) and value.lstrip().startswith("{"):
        raise NotJson("they are JSON inside a JSON string: encoded once too often")
    raise NotJson(f"they are {_ARTICLES.get(type(value), 'no object')}, not an object of named values")


_ARTICLES: Mapping[type, str] = {
    list: "a list",
    tuple: "a list",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "null",
}
