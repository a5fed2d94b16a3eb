"""The edits between two versions of a question, and those between two of its texts, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar

Chosen: TypeAlias = AbstractSet[int]
"""The edits that are made, by their places among all."""
EditedPart: TypeAlias = Literal["system", "message", "tool", "setting", "model"]
EditKey: TypeAlias = tuple[str, str, str]
_T = TypeVar("_T")
Choice: TypeAlias = Callable[[Chosen], _T]
"""Gives a part of the question as it is with some of the edits."""
_BREAK: Final = re.compile(r"\n\s*|(?<=[.!?…])[\"')\]]*[ \t]+|(?<=[。！？])")
"""The end of a line, or of a sentence within it."""
_PARAGRAPH: Final = re.compile(r"\n[^\S\n]*\n")
_WORD: Final = re.compile(r"\w+")
_MOST_UNITS: Final = 3_000
"""Texts of more sentences are compared by paragraphs, and those of more paragraphs as a whole."""
_MOST_ALIGNED: Final = 2_500
"""Most pairs of sentences whose likeness is looked at in one place."""
_ALIKE: Final = 0.4
"""The share of common words from which on a sentence is a changed one, and not another one."""


class Edit(NamedTuple):
    """One difference. Equal edits of several cases are the same edit."""

    where: str
    """The place, in words: `system prompt, paragraph 2, sentence 1`."""
    before: str
    """The text in the old version; empty where there was nothing."""
    after: str
    """The text in the new version."""
    part: EditedPart
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


def whole_choice(edits: EditList, edit: Edit, old: _T, new: _T) -> Choice[_T]:
    """Choose between two values that are one edit."""
    place = edits.add(edit)
    return lambda chosen: new if place in chosen else old


def join_choices(choices: Sequence[Choice[Sequence[_T]]]) -> Choice[tuple[_T, ...]]:
    """Choose the items of several choices, one after the other."""
    return lambda chosen: tuple(item for choice in choices for item in choice(chosen))


class _Unit(NamedTuple):
    """A sentence with the white space behind it, and its place."""

    text: str
    paragraph: int
    sentence: int

    @property
    def words(self) -> str:
        return self.text.strip()


class _Pair(NamedTuple):
    """A sentence of the old text, and what became of it; one of both may be missing."""

    old: _Unit | None
    new: _Unit | None

    @property
    def is_same(self) -> bool:
        return self.old is not None and self.new is not None and self.old.words == self.new.words


class _Segment(NamedTuple):
    """A piece of both texts, and the edit that it belongs to; None for what both have."""

    place: int | None
    old: str
    new: str


def text_choice(edits: EditList, old: str, new: str, where: str, part: EditedPart) -> Choice[str]:
    """Add the edits between two texts, sentence by sentence. `where` names the text."""
    if old == new:
        return lambda _: new
    segments = _segments(edits, old, new, where, part)

    def mixed(chosen: Chosen) -> str:
        return "".join(each.new if each.place in chosen else each.old for each in segments)

    return between(old, new, [each.place for each in segments if each.place is not None], mixed)


def _segments(edits: EditList, old: str, new: str, where: str, part: EditedPart) -> list[_Segment]:
    pairs = _paired(*_units_of(old, new))
    several = len(pairs) > 1
    paragraphs = max((unit.paragraph for pair in pairs for unit in pair if unit), default=1)
    found: list[_Segment] = []
    waiting: list[_Pair] = []
    """Sentences that differ in the white space behind them, which belongs to the next edit."""
    before = ""
    for pair in pairs:
        texts = pair.old.text if pair.old else "", pair.new.text if pair.new else ""
        if pair.is_same:
            if texts[0] == texts[1]:
                found += [_Segment(None, *texts)]
            elif found and found[-1].place is not None:
                found.append(_Segment(found[-1].place, *texts))
            else:
                waiting.append(pair)
                found.append(_Segment(None, *texts))
        else:
            place = edits.add(_edit_of(pair, _place(pair, where, paragraphs) if several else where, part, before))
            found = _with_spaces(found, waiting, place)
            found.append(_Segment(place, *texts))
        before = pair.new.words if pair.new else before
    if waiting:
        place = edits.add(Edit(f"{where}: white space", "…", " …", part))
        found = _with_spaces(found, waiting, place)
    return found


def _with_spaces(found: list[_Segment], waiting: list[_Pair], place: int) -> list[_Segment]:
    """The segments, with those that differ in white space alone as parts of this edit."""
    if not waiting:
        return found
    waiting.clear()
    return [each._replace(place=place) if each.place is None and each.old != each.new else each for each in found]


def _place(pair: _Pair, where: str, paragraphs: int) -> str:
    """The place of a sentence in today's text, or in the old one where it is gone."""
    unit = pair.new or pair.old
    if unit is None:
        return where
    paragraph = f", paragraph {unit.paragraph}" if paragraphs > 1 else ""
    return f"{where}{paragraph}, sentence {unit.sentence}"


def _edit_of(pair: _Pair, where: str, part: EditedPart, before: str) -> Edit:
    old, new = (each.words or repr(each.text) if each else "" for each in pair)
    return Edit(where, old, new, part, before)


def _units_of(old: str, new: str) -> tuple[list[_Unit], list[_Unit]]:
    """Both texts in pieces of one size: sentences, else paragraphs, else whole texts."""
    for pattern in (_BREAK, _PARAGRAPH):
        found = _units(old, pattern), _units(new, pattern)
        if max(map(len, found)) <= _MOST_UNITS:
            return found
    return [_Unit(old, 1, 1)], [_Unit(new, 1, 1)]


def _units(text: str, pattern: re.Pattern[str]) -> list[_Unit]:
    ends = [0, *(found.end() for found in pattern.finditer(text)), len(text)]
    found: list[_Unit] = []
    paragraph, sentence = 1, 0
    for start, end in pairwise(ends):
        if start == end:
            continue
        sentence += 1
        found.append(_Unit(text[start:end], paragraph, sentence))
        if _PARAGRAPH.search(text, start, end):
            paragraph, sentence = paragraph + 1, 0
    return found


def _paired(old: Sequence[_Unit], new: Sequence[_Unit]) -> list[_Pair]:
    """The sentences of both texts, in an order that keeps that of each."""
    if len(old) == len(new) == 1:
        return [_Pair(old[0], new[0])]
    found: list[_Pair] = []
    matcher = SequenceMatcher(None, [each.words for each in old], [each.words for each in new], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            found += map(_Pair, old[i:j], new[k:m])
        else:
            found += _aligned(old[i:j], new[k:m])
    return found


def _aligned(old: Sequence[_Unit], new: Sequence[_Unit]) -> Iterator[_Pair]:
    """Pair those that are alike; the others are removed and added."""
    if len(old) * len(new) > _MOST_ALIGNED:
        likeness = [[0.0] * len(new) for _ in old]
    else:
        words = [[frozenset(_WORD.findall(each.text.lower())) for each in side] for side in (old, new)]
        likeness = [[_likeness(one, other) for other in words[1]] for one in words[0]]
    best = _best_sums(likeness, len(new))
    i = j = 0
    while i < len(old) and j < len(new):
        if likeness[i][j] >= _ALIKE and best[i][j] == likeness[i][j] + best[i + 1][j + 1]:
            yield _Pair(old[i], new[j])
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            yield _Pair(old[i], None)
            i += 1
        else:
            yield _Pair(None, new[j])
            j += 1
    yield from (_Pair(each, None) for each in old[i:])
    yield from (_Pair(None, each) for each in new[j:])


def _best_sums(likeness: Sequence[Sequence[float]], width: int) -> list[list[float]]:
    """The largest sum of likenesses of pairs, from each place on."""
    best = [[0.0] * (width + 1) for _ in range(len(likeness) + 1)]
    for i in reversed(range(len(likeness))):
        for j in reversed(range(width)):
            both = likeness[i][j] + best[i + 1][j + 1] if likeness[i][j] >= _ALIKE else 0.0
            best[i][j] = max(both, best[i + 1][j], best[i][j + 1])
    return best


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of their words that both have."""
    return 2 * len(one & other) / max(len(one) + len(other), 1)
