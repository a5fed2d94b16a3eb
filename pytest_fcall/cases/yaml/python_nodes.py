"""YAML nodes from Python values."""

from __future__ import annotations

from collections.abc import Mapping

from yaml import MappingNode, Mark, Node, ScalarNode, SequenceNode

from pytest_fcall.cases.yaml.reader import MAX_DEPTH
from pytest_fcall.cases.yaml.tags import BOOL, FLOAT, INT, MAP, NULL, SEQ, STR

_MOST_BITS = 3000


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
