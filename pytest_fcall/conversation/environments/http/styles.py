"""Values of arguments as they are written in addresses and headers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, TypeAlias
from urllib.parse import quote

from pytest_fcall.core import Json

Pairs: TypeAlias = list[tuple[str, str]]
Style = Mapping[str, Json]
"""What an OpenAPI document says beside a parameter: `style`, `explode`, `media_type`."""

_BETWEEN: Final = {"form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}


class NotSendable(ValueError):
    """A call cannot be made a request. The text says why, for a model."""


def pairs(name: str, value: Json, style: Style) -> Pairs:
    """What stands in a query for an argument; nothing for null."""
    if value is None:
        return []
    kind = str(style.get("style", "form"))
    explode = style.get("explode", kind == "form") is True
    if style.get("media_type"):
        return [(name, _json(value))]
    if isinstance(value, Mapping):
        if kind == "deepObject":
            return [(f"{name}[{key}]", _plain(item)) for key, item in value.items()]
        if explode:
            return [(key, _plain(item)) for key, item in value.items()]
        return [(name, ",".join(part for key, item in value.items() for part in (key, _plain(item))))]
    if isinstance(value, list | tuple):
        texts = [_plain(item) for item in value]
        return [(name, each) for each in texts] if explode else [(name, _BETWEEN.get(kind, ",").join(texts))]
    return [(name, _plain(value))]


def text(value: Json, style: Style) -> str:
    """A value in a header, or in a path before it is encoded."""
    if style.get("media_type"):
        return _json(value)
    if isinstance(value, Mapping):
        sign = "=" if style.get("explode") is True else ","
        return ",".join(f"{key}{sign}{_plain(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ",".join(map(_plain, value))
    return _plain(value)


def part_of_path(value: Json, style: Style) -> str:
    """A value as one part of a path, which it cannot lead out of."""
    written = text(value, style)
    if written in {"", ".", ".."}:
        raise NotSendable(f"{written!r} cannot be a part of a path")
    return quote(written, safe="", errors="replace")


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Json) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise NotSendable(f"an argument cannot be sent: {error}") from None
