"""What the wire did to arguments, undone: not every wire can say all that JSON can."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pytest_fcall.core.call import Call
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json
from pytest_fcall.matching.mismatch import Keys
from pytest_fcall.schema import ToolSchema

_EXACT = 2**53
"""Below this a float tells every integer from the next."""
_FLOATS = "Whole numbers such as 3.0 count as integers: the wire makes floats of all numbers."
_NULLS = "Null counts as left out where the schema takes no null: the wire makes every argument required."


def wire_of(reply: Reply) -> Collection[str]:
    """What the back end says that the wire does: `floats`, `nulls`, or nothing."""
    said = reply.engine.get("wire")
    return [effect for effect in said if effect in ("floats", "nulls")] if isinstance(said, list | tuple) else []


@dataclass(frozen=True, slots=True)
class Wire:
    """The way from what came over a wire to what the model meant. `notes` tell what was changed on it."""

    effects: Collection[str]
    notes: list[str] = field(default_factory=list)

    def meant(self, call: Call, schema: ToolSchema | None) -> Call:
        """The call as it was meant."""
        try:
            arguments = dict(self._entries(call.arguments, (), schema))
        except RecursionError:
            return call
        return replace(call, arguments=arguments)

    def _value(self, value: Json, keys: Keys, schema: ToolSchema | None) -> Json:
        if isinstance(value, Mapping):
            return dict(self._entries(value, keys, schema))
        if isinstance(value, list | tuple):
            return [self._value(item, (*keys, index), schema) for index, item in enumerate(value)]
        if "floats" in self.effects and isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
            self.notes.append(_FLOATS)
            return int(value)
        return value

    def _entries(self, value: Mapping[str, Json], keys: Keys, schema: ToolSchema | None) -> Iterator[tuple[str, Json]]:
        for key, item in value.items():
            below = (*keys, key)
            if item is None and "nulls" in self.effects and schema and _must_mean_nothing(below, schema):
                self.notes.append(_NULLS)
            else:
                yield key, self._value(item, below, schema)


def _must_mean_nothing(keys: Keys, schema: ToolSchema) -> bool:
    """Whether a null here stands for an optional argument, and can stand for nothing else."""
    known = schema.properties_at(keys[:-1])
    name = keys[-1]
    return name in known.schemas and name not in known.required and bool(schema.check_at(keys, None))
