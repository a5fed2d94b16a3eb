"""Python values as nodes, so that they are read by the same code as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases.yaml_reader import MAX_DEPTH
from pytest_fcall.cases.yaml_tags import BOOL, FLOAT, INT, MAP, NULL, SEQ, STR

_MOST_BITS = 3000


def nodes_of(value: object, place: Node | None = None) -> Node:
    """A value as nodes that all stand at `place`. A ValueError says what is no plain value."""
    return _Maker(place).node(value, 1)


@dataclass(frozen=True, slots=True)
class _Maker:
    place: Node | None

    def node(self, value: object, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise ValueError("this is nested too deep")
        if isinstance(value, Mapping):
            pairs = [(self._key(key), self.node(item, depth + 1)) for key, item in value.items()]
            return MappingNode(MAP, pairs, *self._marks())
        if isinstance(value, list | tuple):
            return SequenceNode(SEQ, [self.node(item, depth + 1) for item in value], *self._marks())
        tag, text = _written(value)
        return ScalarNode(tag, text, *self._marks())

    def _key(self, key: object) -> Node:
        if not isinstance(key, str):
            raise ValueError(f"a key must be a text, not {type(key).__name__}")  # noqa: TRY004  # one error for all
        return ScalarNode(STR, key, *self._marks())

    def _marks(self):  # type: ignore[no-untyped-def]
        return (self.place.start_mark, self.place.end_mark) if self.place else (None, None)


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
    raise ValueError(f"a value of the type {type(value).__name__} cannot be expected")
