"""Normal forms of strings, in which those that count as equal are equal; number words become digits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from pytest_fcall.core.bounded_text import normal_form

_DIGITS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES = {word: value for value, word in enumerate(["zero", *_DIGITS, *_TEENS])} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}

_ONE = "|".join(_DIGITS)
_BELOW_100 = rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{_ONE}))?|{'|'.join(_TEENS)}|{_ONE}|zero)"
_BELOW_1000 = rf"(?:(?:{_ONE}) hundred(?: (?:and )?{_BELOW_100})?|{_BELOW_100})"
_NUMBER = rf"\b{_BELOW_1000}(?: thousand(?: (?:and )?{_BELOW_1000})?)?\b"


@cache
def _number_words() -> re.Pattern[str]:
    """Compiled for the first text: compiling takes longer than importing all of this package."""
    return re.compile(_NUMBER)


def with_digits(text: str) -> str:
    """Write the numbers in a text of small letters and single spaces as digits: `two adults` as `2 adults`."""
    return _number_words().sub(lambda found: str(_words_value(found[0])), text)


def _words_value(words: str) -> int:
    before, thousand, rest = words.partition(" thousand")
    return 1000 * _words_value(before) + _words_value(rest) if thousand else _below_1000(words)


def _below_1000(words: str) -> int:
    total = 0
    for word in re.split("[- ]", words):
        total = 100 * total if word == "hundred" else total + _VALUES.get(word, 0)  # `and` adds nothing
    return total


_QUOTES = dict.fromkeys(map(ord, "‘’‚‛′`´＇"), "'") | dict.fromkeys(map(ord, "“”„‟″«»＂"), '"')
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_UNIFIED = _QUOTES | _DASHES
_BFCL_DROPPED = dict.fromkeys(map(ord, " ,./-_*^"))

_SIGNED_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?")
"""Signs and points of a number are not punctuation."""

_MAX_COMPARED = 10_000
"""Longer texts get no hints, in characters."""


def exact(text: str) -> str:
    """The text in Unicode NFC, which encodes each character in one way only."""
    return text if text.isascii() else normal_form("NFC", text)


def relax(text: str) -> str:
    """The text without differences of case, compatibility forms, white space, quotes and dashes."""
    if text.isascii():
        return " ".join(text.replace("`", "'").lower().split())
    # Unified before NFKC too, which would take some quotes apart.
    folded = normal_form("NFKC", text.translate(_UNIFIED)).translate(_UNIFIED).casefold()
    return " ".join(normal_form("NFKC", folded).split())


def bfcl(text: str) -> str:
    """The form in which the Berkeley leaderboard's checker compares strings."""
    return text.translate(_BFCL_DROPPED).lower().replace("'", '"')


def reader_form(text: str) -> str:
    """The relaxed form with number words as digits, so that `two adults` equals `2 adults`."""
    return with_digits(relax(text))


NORMAL_FORMS: Mapping[str, Callable[[str], str]] = MappingProxyType({"exact": exact, "relaxed": relax, "bfcl": bfcl})


def near_miss(expected: str, got: str) -> str:
    """A hint for different strings that are nearly the same; empty for others."""
    if len(got) > _MAX_COMPARED:
        return ""
    if relax(expected) == relax(got):
        return "they read the same: `$text` or `strings: relaxed` would accept it"
    if reader_form(expected) == reader_form(got):
        return "the number is the same: `$text` would accept it"
    if _SIGNED_NUMBER.fullmatch(expected) and _SIGNED_NUMBER.fullmatch(got):
        return ""
    if (skeleton := _letters_only(expected)) and skeleton == _letters_only(got):
        return "only punctuation and spacing differ: `$any` can list both spellings"
    return ""


def _letters_only(text: str) -> str:
    return re.sub(r"[\W_]+", "", relax(text))
