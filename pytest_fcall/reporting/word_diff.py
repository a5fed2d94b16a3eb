"""The changed words of a text: in its sentences, in the manner of `git diff --word-diff`, or in all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from operator import eq
from typing import NamedTuple

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line

_LEAST_AROUND = 4
"""Unchanged words that are shown before and after a change, also those of other sentences."""
_MOST_AROUND = 20
"""Most unchanged words that are shown before and after a change of a long sentence."""
_MOST_CHANGED = 40
"""Of a longer row of removed or added words, the middle is replaced by its number of words."""
_ENOUGH = 80
"""After so many words, further changes are only counted."""
_MOST_COMPARED = 2000
"""Words between the first and the last change that are compared. The time grows with the square of their number."""
_LONGEST_WORD = 100
"""Characters of a word: in some scripts nothing stands between words."""
_WORD = re.compile(r"\s+(?=\S)|\S+\s*")
_END = re.compile(r"[.!?:;。！？]['\"”’»)\]*]*$")


def word_diff(old: str, new: str) -> str:
    """The changed sentences, with their changed words marked: `… You are a [-helpful-]{+friendly+} clerk. …`.

    Empty where the words are the same. What does not fit into a few lines is left out by its number.
    """
    before, after = old.split(), new.split()
    return " ".join(_pieces(_parts(before, after))) if before != after else ""


class _Change(NamedTuple):
    """Words of the old text, and what stands in the new one instead of them; one of them may be empty."""

    removed: Sequence[str]
    added: Sequence[str]

    @property
    def ends_sentence(self) -> bool:
        return all(_END.search(words[-1]) for words in self if words)


def _parts(before: Sequence[str], after: Sequence[str]) -> tuple[list[Sequence[str]], list[_Change]]:
    """The changes, and the words that both texts have before, between and after them: one row more than changes."""
    head = _count_equal(before, after)
    tail = _count_equal(before[head:][::-1], after[head:][::-1])
    was, now = before[head : len(before) - tail], after[head : len(after) - tail]
    kept, changes = [before[:head]], []
    if max(len(was), len(now)) > _MOST_COMPARED:
        changes.append(_Change(was, now))
    else:
        for kind, start, stop, now_start, now_stop in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
            if kind == "equal":
                kept.append(was[start:stop])
            else:
                changes.append(_Change(was[start:stop], now[now_start:now_stop]))
    return [*kept, before[len(before) - tail :]], changes


def _count_equal(before: Sequence[str], after: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(bool, map(eq, before, after)))


def _pieces(parts: tuple[list[Sequence[str]], list[_Change]]) -> Iterator[str]:
    (first, *others), changes = parts
    yield from (shown := _shown_words(first, 0, _count_before_change(first)))
    count = len(shown)
    for place, (change, kept) in enumerate(zip(changes, others, strict=True), start=1):
        yield _changed_text("[-", change.removed, "-]") + _changed_text("{+", change.added, "+}")
        left = len(changes) - place
        count += len(change.removed) + len(change.added)
        is_last = left == 0 or count >= _ENOUGH
        before_next = 0 if is_last else _count_before_change(kept)
        yield from (shown := _shown_words(kept, _count_after_change(kept, change), before_next))
        count += len(shown)
        if left and is_last:
            yield f"(and {plural_text(left, 'more change')})"
            return


def _count_before_change(kept: Sequence[str]) -> int:
    """The number of words of the sentence in which a change follows."""
    return _bounded(sum(1 for _ in takewhile(lambda word: not _END.search(word), reversed(kept))))


def _count_after_change(kept: Sequence[str], change: _Change) -> int:
    """The number of words that are left of the sentence that was changed."""
    if change.ends_sentence:
        return _LEAST_AROUND
    return _bounded(next((place for place, word in enumerate(kept, start=1) if _END.search(word)), len(kept)))


def _bounded(count: int) -> int:
    return min(max(count, _LEAST_AROUND), _MOST_AROUND)


def _shown_words(words: Sequence[str], first: int, last: int) -> list[str]:
    """The first and the last words, and a sign for those between."""
    is_whole = first + last >= len(words)
    shown = words if is_whole else [*words[:first], "…", *words[len(words) - last :]]
    return [*map(_shown_word, shown)]


def _changed_text(opened: str, words: Sequence[str], closed: str) -> str:
    if not words:
        return ""
    half = _MOST_CHANGED // 2
    left = len(words) - 2 * half
    shown = [*words[:half], f"… {left:,} words …", *words[-half:]] if left > 1 else words
    return f"{opened}{' '.join(map(_shown_word, shown))}{closed}"


def _shown_word(word: str) -> str:
    return safe_line(word, _LONGEST_WORD)


def marked_changes(old: str, new: str) -> list[tuple[str, str]]:
    """Both texts as one, in pieces: `-` before what is gone, `+` before what is new, and else a blank.

    Spaces and newlines belong to the word before them, but for those that both have behind a change.
    """
    before, after = _WORD.findall(old), _WORD.findall(new)
    if before == after:
        return [(" ", new)]
    kept, changes = _parts(before, after)
    pieces = [(" ", "".join(kept[0]))]
    for change, words in zip(changes, kept[1:], strict=True):
        removed, added = "".join(change.removed), "".join(change.added)
        blank = added[len(added.rstrip()) :]
        if not removed.endswith(blank) or not (removed.strip() and added.strip()):
            blank = ""
        end = len(blank)
        pieces += [
            ("-", removed[: len(removed) - end]),
            ("+", added[: len(added) - end]),
            (" ", blank + "".join(words)),
        ]
    return [piece for piece in pieces if piece[1]]
