"""An edit: one part of a question that differs between two versions of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple, TypeAlias, TypeVar

Chosen: TypeAlias = AbstractSet[int]
"""The edits that are made, by their places among all."""
Part: TypeAlias = Literal["system", "message", "tool", "setting", "model"]
EditKey: TypeAlias = tuple[str, str, str]
_T = TypeVar("_T")
Choice: TypeAlias = Callable[[Chosen], _T]
"""Gives a part of the question as it is with some of the edits."""


class Edit(NamedTuple):
    """One difference. Equal edits of several cases are the same edit."""

    where: str
    """The place, in words: `system prompt, paragraph 2, sentence 1`."""
    before: str
    """The text in the old version; empty where there was nothing."""
    after: str
    """The text in the new version."""
    part: Part
    follows: str = ""
    """The text that stands before it in the new version, where it is a sentence."""

    @property
    def key(self) -> EditKey:
        """Identifies the edit among those of several cases."""
        return self.where, self.before, self.after


class EditList:
    """Collects the edits between two versions."""

    def __init__(self) -> None:
        self._edits: list[Edit] = []
        self._keys: set[EditKey] = set()

    def add(self, edit: Edit) -> int:
        """Add an edit, and return its place. Its words are made unique."""
        where, number = edit.where, 1
        while edit.key in self._keys:
            number += 1
            edit = edit._replace(where=f"{where} ({number})")
        self._keys.add(edit.key)
        self._edits.append(edit)
        return len(self._edits) - 1

    def __len__(self) -> int:
        return len(self._edits)

    def __iter__(self) -> Iterator[Edit]:
        return iter(self._edits)


def between(old: _T, new: _T, places: Iterable[int], mixed: Choice[_T]) -> Choice[_T]:
    """Choose between two values: the old one with none of the edits at these places, the new one with all of them.

    So both versions are met exactly, whatever `mixed` makes of the rest.
    """
    own = frozenset(places)

    def choose(chosen: Chosen) -> _T:
        made = own & chosen
        if not made:
            return old
        return new if len(made) == len(own) else mixed(made)

    return choose


def whole(edits: EditList, edit: Edit, old: _T, new: _T) -> Choice[_T]:
    """Choose between two values that are one edit."""
    place = edits.add(edit)
    return lambda chosen: new if place in chosen else old


def joined(choices: Sequence[Choice[Sequence[_T]]]) -> Choice[tuple[_T, ...]]:
    """Choose the items of several choices, one after the other."""
    return lambda chosen: tuple(item for choice in choices for item in choice(chosen))
