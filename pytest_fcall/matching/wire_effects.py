"""Undoing what a wire format did to arguments: some cannot carry all that JSON can."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json
from pytest_fcall.matching.place import Path

if TYPE_CHECKING:
    from pytest_fcall.schema.tool_schema import ToolSchema

_EXACT: Final = 2**53
"""Below this, floats can represent every integer."""
_FLOATS: Final = "Whole numbers such as 3.0 count as integers: the wire makes floats of all numbers."
_NULLS: Final = "Null counts as left out where the schema takes no null: the wire makes every argument required."


class WireEffects:
    """Restores the arguments that the model meant. `notes` collects the changes."""

    def __init__(self, effects: Collection[str]) -> None:
        self.effects = effects
        self.notes: list[str] = []

    def undone(self, call: Call, schema: ToolSchema | None) -> Call:
        """The call as the model meant it."""
        try:
            arguments = dict(self._entries(call.arguments, (), schema))
        except RecursionError:
            return call
        return replace(call, arguments=arguments)

    def _value(self, value: Json, path: Path, schema: ToolSchema | None) -> Json:
        if isinstance(value, Mapping):
            return dict(self._entries(value, path, schema))
        if isinstance(value, list | tuple):
            return [self._value(item, (*path, index), schema) for index, item in enumerate(value)]
        if "floats" in self.effects and isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
            self.notes.append(_FLOATS)
            return int(value)
        return value

    def _entries(self, value: Mapping[str, Json], path: Path, schema: ToolSchema | None) -> Iterator[tuple[str, Json]]:
        for key, item in value.items():
            below = (*path, key)
            if item is None and "nulls" in self.effects and schema and _means_omission(below, schema):
                self.notes.append(_NULLS)
            else:
                yield key, self._value(item, below, schema)


def _means_omission(path: Path, schema: ToolSchema) -> bool:
    """Whether a null here can only mean that an optional argument is left out."""
    known = schema.properties_at(path[:-1])
    name = path[-1]
    return name in known.schemas and name not in known.required and bool(schema.check_at(path, None))
