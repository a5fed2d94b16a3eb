"""What an agent in a virtual home can do, and with what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.core.values import Json

Things = frozenset[str]


@dataclass(frozen=True, slots=True)
class Actions:
    """For each action, the things that each of its arguments may be."""

    known: Mapping[str, Sequence[Things]]

    def allow(self, name: str, things: Sequence[str]) -> bool:
        """Whether this can be done."""
        places = self.known.get(name)
        return places is not None and len(places) == len(things) and all(map(_contains, places, things))

    def with_those_of(self, steps: Sequence[tuple[str, Sequence[str]]]) -> Actions:
        """These actions, and whatever the given steps do."""
        known = dict(self.known)
        for name, things in steps:
            places = known.get(name, ())
            if len(places) != len(things):
                places = [frozenset()] * len(things)
            known[name] = [place | {thing} for place, thing in zip(places, things, strict=True)]
        return Actions(known)


def actions_from_data(data: Json) -> Actions:
    """Read the task's `valid_object_lists.json`: things by the names `object`, or `object1` and `object2`, by action.

    Raises ValueError, which says what is wrong.
    """
    if isinstance(data, Mapping):
        return Actions({name: _places(name, lists) for name, lists in data.items()})
    raise ValueError("it is no object of actions")


def _places(name: str, lists: Json) -> list[Things]:
    if isinstance(lists, Mapping):
        for keys in ((), ("object",), ("object1", "object2")):
            if lists.keys() == set(keys):
                return [_things(name, lists[key]) for key in keys]
    raise ValueError(f"`{name:.60}` has something other than `object`, or `object1` and `object2`")


def _things(name: str, value: Json) -> Things:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"the objects of `{name:.60}` are no list of names")
    return frozenset(map(str, value))


def _contains(things: Things, thing: str) -> bool:
    return thing in things
