"""Relations that change how the user writes: white space, case, punctuation, typing errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.variants import Dice, Unfit, WantedRelation
from pytest_fcall.variants.case_parts import user_texts, with_user_texts
from pytest_fcall.variants.texts import NeededWords, free_words, why_words_stay, with_free_parts, with_words

_NO_TEXT: Final = "no word of its prompt is free to change"
_SPACES: Final = ("  ", "   ", "\n", " \n ", "\t")
_MARKS: Final = ".!?…。！？"
_CLOSING: Final = "`\"'”»)]}>"
"""Signs that end something else than a sentence."""
_LEAST_LETTERS: Final = 5
"""Shorter words have no typing errors, or they might be other words."""
_WORDS_PER_TYPO: Final = 8


def white_space(case: Case, dice: Dice, _: WantedRelation) -> Case | Unfit:
    """Write more spaces and line breaks between words."""

    def spaced(part: str) -> str:
        return re.sub(r"(?<=\S) (?=\S)", lambda _: dice.one(_SPACES) if dice.below(3) == 0 else " ", part)

    def changed(text: str) -> str:
        found = with_free_parts(text, spaced)
        return f"{found} \n" if found == text and text.strip() else found

    return _written(case, changed)


def letter_case(case: Case, dice: Dice, _: WantedRelation) -> Case | Unfit:
    """Write free words in small letters, or in capitals."""
    if unfit := why_words_stay(case):
        return unfit
    needed, capital = NeededWords(case), dice.below(2)

    def changed(text: str) -> str:
        words = free_words(text, needed)
        found = {place: word[0].upper() if capital else word[0].lower() for place, word in enumerate(words)}
        if not capital and all(words[place][0] == new for place, new in found.items()):
            found = {place: word[0].upper() for place, word in enumerate(words)}
        return with_words(text, {place: new for place, new in found.items() if len(new) == len(words[place][0])}, words)

    return _written(case, changed)


def punctuation(case: Case, dice: Dice, _: WantedRelation) -> Case | Unfit:
    """End the prompt with other marks."""
    marks = dice.one((".", "", "..", "!", " …"))

    def changed(text: str) -> str:
        written = text.rstrip()
        if not written or written[-1] in _CLOSING:
            return text
        words = written.rstrip(_MARKS)
        new = marks if marks != written[len(words) :] else ("" if marks else ".")
        return words + new + text[len(written) :]

    return _written(case, changed)


def typos(case: Case, dice: Dice, _: WantedRelation) -> Case | Unfit:
    """Make typing errors in free words, one in eight of them and at least one."""
    if unfit := why_words_stay(case):
        return unfit
    needed = NeededWords(case)

    def changed(text: str) -> str:
        words = [word for word in free_words(text, needed) if _can_be_mistyped(word[0])]
        places = dice.order(range(len(words)))[: max(1, len(words) // _WORDS_PER_TYPO)]
        return with_words(text, {place: _mistyped(words[place][0], dice) for place in places}, words)

    return _written(case, changed)


def _written(case: Case, change: Callable[[str], str]) -> Case | Unfit:
    """The case with what the user says changed, if that changes anything."""
    varied = with_user_texts(case, change)
    return Unfit(_NO_TEXT) if [*user_texts(varied)] == [*user_texts(case)] else varied


def _can_be_mistyped(word: str) -> bool:
    return len(word) >= _LEAST_LETTERS and word.isalpha() and word.islower()


def _mistyped(word: str, dice: Dice) -> str:
    """The word with two letters swapped, one left out, or one doubled; its first and last letter stay."""
    kind, place = dice.below(3), 1 + dice.below(len(word) - 3)
    if kind == 0 and word[place] != word[place + 1]:
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    if kind == 1:
        return word[:place] + word[place + 1 :]
    return word[: place + 1] + word[place:]
