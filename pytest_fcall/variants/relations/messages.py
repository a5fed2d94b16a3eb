"""Relations that change what is said: where, how the user writes, and how dates and numbers are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.values import Json
from pytest_fcall.core.variants import Dice, Unfit, WantedRelation
from pytest_fcall.variants.case_parts import (
    all_tools,
    expected_values,
    hidden_expectation,
    is_system,
    user_texts,
    with_user_texts,
)
from pytest_fcall.variants.texts import NeededWords, fixed_words_reason, free_words, with_free_parts, with_words

if TYPE_CHECKING:
    from pytest_fcall.core.values import Message

_SMALL_TALK: Final = (
    ("Good morning!", "Good morning! What can I do for you?"),
    ("Hi, can you hear me?", "Yes. How may I help?"),
    ("Thanks for your help the other day.", "You are welcome! Is there anything else?"),
    ("One moment, please.", "Of course, take your time."),
    ("I hope you are well.", "Thank you, I am. What would you like to do?"),
    ("Sorry, I was on the phone.", "No problem. How can I help you now?"),
)
"""Messages for which nobody would call a tool, with their answers."""
_NO_TEXT: Final = "no word of its prompt is free to change"
_SPACES: Final = ("  ", "   ", "\n", " \n ", "\t")
_MARKS: Final = ".!?…。！？"
_CLOSING: Final = "`\"'”»)]}>"
"""Signs that end something else than a sentence."""
_LEAST_LETTERS: Final = 5
"""Shorter words have no typing errors, or they might be other words."""
_WORDS_PER_TYPO: Final = 8
_DATE_OPERATORS: Final = frozenset({"date", "datetime"})
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_ISO: Final = re.compile(r"(?<![\w\"'“«.:/-])(\d{4})-(\d{2})-(\d{2})(?![\w\"'”»:/-]|\.\d)")
_NUMBER: Final = re.compile(r"(?<![\w\"'“«.,:/#$€£%+-])(\d{1,9})(?![\w\"'”»:/%-]|[.,]\d)")
_FORMATS: Final = re.compile(r"YYYY-MM-DD|ISO[ -]?8601|\d{4}-\d{2}-\d{2}", re.IGNORECASE)
_SMALL: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def system_position(case: Case, _: Dice, __: WantedRelation) -> Case | Unfit:
    """Put the system prompt at the head of the user's first message."""
    first = case.turns[0]
    if not first.messages or not is_system(first.messages[0]):
        return Unfit("it has no system prompt")
    told = first.messages[0].get("content")
    place = next((n for n, message in enumerate(first.messages) if message.get("role") == "user"), None)
    said = None if place is None else first.messages[place].get("content")
    if place is None or not isinstance(told, str) or not isinstance(said, str):
        return Unfit("its first messages are not plain text")
    moved = [*first.messages]
    moved[place] = {**moved[place], "content": f"{told}\n\n{said}"}
    return _with_first(case, moved[1:])


def turns_before(case: Case, dice: Dice, _: WantedRelation) -> Case | Unfit:
    """Begin with small talk."""
    messages = case.turns[0].messages
    place = next((n for n, message in enumerate(messages) if not is_system(message)), None)
    if place is None or messages[place].get("role") != "user":
        return Unfit("it does not begin with the user")
    said, answered = dice.one(_SMALL_TALK)
    talk: list[Message] = [{"role": "user", "content": said}, {"role": "assistant", "content": answered}]
    return _with_first(case, [*messages[:place], *talk, *messages[place:]])


def _with_first(case: Case, messages: Sequence[Message]) -> Case:
    """The case with other messages in its first turn."""
    first, *others = case.turns
    return replace(case, turns=(replace(first, messages=tuple(messages)), *others), undated=None)


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
    if unfit := fixed_words_reason(case):
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
    if unfit := fixed_words_reason(case):
        return unfit
    needed = NeededWords(case)

    def changed(text: str) -> str:
        words = [word for word in free_words(text, needed) if _can_be_mistyped(word[0])]
        places = dice.order(range(len(words)))[: max(1, len(words) // _WORDS_PER_TYPO)]
        return with_words(text, {place: _mistyped(words[place][0], dice) for place in places}, words)

    return _written(case, changed)


def _written(case: Case, change: Callable[[str], str], reason: str = _NO_TEXT) -> Case | Unfit:
    """The case with what the user says changed; unfit for this reason if that changes nothing."""
    varied = with_user_texts(case, change)
    return Unfit(reason) if [*user_texts(varied)] == [*user_texts(case)] else varied


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


def dates(case: Case, dice: Dice, _: WantedRelation) -> Case | Unfit:
    """Write out dates such as 2026-12-24, where the case or a schema says how the answer is to write them."""
    if unfit := hidden_expectation(case):
        return unfit
    expected, says_format = [*_texts(case)], any(_names_format(tool.parameters) for tool in all_tools(case).values())

    def changed(found: re.Match[str]) -> str:
        if not says_format and any(found[0] in text for text in expected):
            return found[0]
        with suppress(ValueError):
            day = date(*map(int, found.groups()))
            month = _MONTHS[day.month - 1]
            return dice.one((f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}"))
        return found[0]

    return _written(case, partial(_ISO.sub, changed), "its prompt has no date that may be written in another way")


def numbers(case: Case, dice: Dice, _: WantedRelation) -> Case | Unfit:
    """Write small whole numbers as words, and large ones with separators, unless they are part of a text."""
    if unfit := hidden_expectation(case):
        return unfit
    expected = [*_texts(case)]

    def changed(found: re.Match[str]) -> str:
        if any(found[1] in text for text in expected) or (len(found[1]) > 1 and found[1].startswith("0")):
            return found[0]
        value = int(found[1])
        if value < 100:
            return number_words(value)
        grouped = f"{value:,}"
        return grouped if value >= 10_000 or (value >= 1000 and dice.below(2)) else found[0]

    return _written(case, partial(_NUMBER.sub, changed), "its prompt has no number that may be written in another way")


def number_words(value: int) -> str:
    """A number below 100 in words."""
    if value < 20:
        return _SMALL[value]
    tens, ones = divmod(value, 10)
    return _TENS[tens] + (f"-{_SMALL[ones]}" if ones else "")


def _texts(case: Case) -> Iterator[str]:
    """The strings that a right answer has to give letter by letter: operators that read dates are satisfied anyway."""
    return (value for value in expected_values(case, _DATE_OPERATORS) if isinstance(value, str))


def _names_format(schema: Json) -> bool:
    """Whether a schema says how dates are written: by a format, a pattern, or in its words."""
    if isinstance(schema, Mapping):
        if schema.get("format") in ("date", "date-time"):
            return True
        told = schema.get("description")
        return (isinstance(told, str) and bool(_FORMATS.search(told))) or any(map(_names_format, schema.values()))
    return isinstance(schema, list | tuple) and any(map(_names_format, schema))
