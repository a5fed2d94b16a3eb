"""JSON values as text in YAML's flow style."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from pytest_fcall.core import Json

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]|\\{(?=now[:}])")
"""Characters that YAML does not allow or takes for a line break, and the placeholder of the clock."""


def write_flow(value: Json) -> str:
    """A value in one line: JSON with plain keys."""
    match value:
        case Mapping():
            return "{" + ", ".join(f"{write_flow_key(key)}: {write_flow(inner)}" for key, inner in value.items()) + "}"
        case list() | tuple():
            return f"[{', '.join(map(write_flow, value))}]"
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def write_flow_key(key: str) -> str:
    """A key, in quotes only if it needs them."""
    return key if _PLAIN_KEY.fullmatch(key) and key.lower() not in _WORDS else write_flow(key)


def mark_literal(value: Json) -> Json:
    """An expected value that equals `value`: mappings that look like operators become `$literal`."""
    match value:
        case Mapping():
            inner = {key: mark_literal(each) for key, each in value.items()}
            return {"$literal": dict(value)} if any(key.startswith("$") for key in inner) else inner
        case list() | tuple():
            return [mark_literal(each) for each in value]
    return value
