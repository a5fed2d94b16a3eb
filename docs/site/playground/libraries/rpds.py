"""Stands in for rpds: the persistent collections that `referencing` and `jsonschema` use, over those of Python."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class HashTrieMap(dict[_Key, _Value]):
    """A mapping whose changes are copies."""

    @classmethod
    def convert(cls, value: Mapping[Any, Any]) -> HashTrieMap[Any, Any]:
        """The mapping itself, or a copy of another one."""
        return value if isinstance(value, cls) else cls(value)

    def insert(self, key: _Key, value: _Value) -> HashTrieMap[_Key, _Value]:
        """A copy with one entry more."""
        return HashTrieMap({**self, key: value})

    def remove(self, key: _Key) -> HashTrieMap[_Key, _Value]:
        """A copy without an entry. Raises KeyError without the entry."""
        out = HashTrieMap(self)
        del out[key]
        return out

    def update(self, *others: Any, **named: Any) -> HashTrieMap[_Key, _Value]:  # type: ignore[override]
        """A copy with the entries of others."""
        out = dict(self)
        for other in others:
            out |= dict(other)
        return HashTrieMap({**out, **named})


class HashTrieSet(AbstractSet[_Key]):
    """A set whose changes are copies."""

    def __init__(self, values: Iterable[_Key] = ()) -> None:
        self._values = frozenset(values)

    def __contains__(self, value: object) -> bool:
        return value in self._values

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def insert(self, value: _Key) -> HashTrieSet[_Key]:
        """A copy with one value more."""
        return HashTrieSet(self._values | {value})

    def update(self, *others: Iterable[_Key]) -> HashTrieSet[_Key]:
        """A copy with the values of others."""
        return HashTrieSet(self._values.union(*others))


class List(Generic[_Value]):
    """A list that grows at its front, by copies."""

    def __init__(self, *values: Any) -> None:
        self._values = tuple(values[0]) if len(values) == 1 else values

    def __iter__(self) -> Iterator[_Value]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def push_front(self, value: _Value) -> List[_Value]:
        """A copy with one value more at the front."""
        return List((value, *self._values))
