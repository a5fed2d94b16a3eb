"""JSON values in YAML: the tags of the core schema, nodes of Python values, and text in flow style."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from yaml import MappingNode, Mark, Node, ScalarNode, SequenceNode

from pytest_fcall.core.values import Json

STR = "tag:yaml.org,2002:str"
INT = "tag:yaml.org,2002:int"
FLOAT = "tag:yaml.org,2002:float"
BOOL = "tag:yaml.org,2002:bool"
NULL = "tag:yaml.org,2002:null"
SEQ = "tag:yaml.org,2002:seq"
MAP = "tag:yaml.org,2002:map"
MERGE = "tag:yaml.org,2002:merge"
SCALAR_TAGS = frozenset((STR, INT, FLOAT, BOOL, NULL, MERGE))

MAX_DEPTH = 100
"""The deepest nesting that is read."""
_MOST_BITS = 3000
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]|\\{(?=now[:}])")
"""Characters that YAML does not allow or takes for a line break, and the placeholder of the clock."""


def short_tag(tag: str) -> str:
    """A tag in its short form, such as `!!str`."""
    return tag.replace("tag:yaml.org,2002:", "!!", 1)


def nodes_from_python(value: object, place: Node | None = None) -> Node:
    """A JSON value as nodes, all with the position of `place`. Raises ValueError with a message for other values."""
    return _node(value, place.start_mark if place else None, MAX_DEPTH)


def _node(value: object, mark: Mark | None, depth: int) -> Node:
    if not depth:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        pairs = [(_key(key, mark), _node(item, mark, depth - 1)) for key, item in value.items()]
        return MappingNode(MAP, pairs, mark, mark)
    if isinstance(value, list | tuple):
        return SequenceNode(SEQ, [_node(item, mark, depth - 1) for item in value], mark, mark)
    tag, text = _written(value)
    return ScalarNode(tag, text, mark, mark, '"' if tag == STR else None)


def _key(key: object, mark: Mark | None) -> Node:
    if isinstance(key, str):
        return ScalarNode(STR, key, mark, mark)
    raise ValueError(f"a key must be a string, not {type(key).__name__}")


def _written(value: object) -> tuple[str, str]:
    if value is None:
        return NULL, ""
    if isinstance(value, str):
        return STR, str(value)
    if isinstance(value, bool):
        return BOOL, "true" if value else "false"
    if isinstance(value, int) and value.bit_length() <= _MOST_BITS:
        return INT, str(int(value))
    if isinstance(value, float):
        return FLOAT, repr(float(value))
    raise ValueError(f"a value of the type {type(value).__name__} is not a JSON value")


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
