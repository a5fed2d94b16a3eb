"""English number words in a text, written in digits."""

from __future__ import annotations

import re
from functools import cache

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
def _number() -> re.Pattern[str]:
    """Compiled with the first text: it takes longer than all else that this room does at its start."""
    return re.compile(_NUMBER)


def with_digits(text: str) -> str:
    """Write the numbers in a text of small letters and single spaces as digits: `two adults` as `2 adults`."""
    return _number().sub(lambda found: str(_value(found[0])), text)


def _value(words: str) -> int:
    before, thousand, rest = words.partition(" thousand")
    return 1000 * _value(before) + _value(rest) if thousand else _below_1000(words)


def _below_1000(words: str) -> int:
    total = 0
    for word in re.split("[- ]", words):
        total = 100 * total if word == "hundred" else total + _VALUES.get(word, 0)  # `and` adds nothing
    return total
