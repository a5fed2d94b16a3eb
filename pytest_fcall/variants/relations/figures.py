"""Relations that write dates and numbers in another way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from typing import Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.values import Json
from pytest_fcall.core.variants import Dice, Unfit, WantedRelation
from pytest_fcall.variants.case_parts import all_tools, expected_values, hidden_expectation, user_texts, with_user_texts

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

    return _with_figures(case, _ISO, changed, "its prompt has no date that may be written in another way")


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

    return _with_figures(case, _NUMBER, changed, "its prompt has no number that may be written in another way")


def number_words(value: int) -> str:
    """A number below 100 in words."""
    if value < 20:
        return _SMALL[value]
    tens, ones = divmod(value, 10)
    return _TENS[tens] + (f"-{_SMALL[ones]}" if ones else "")


def _with_figures(
    case: Case, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str], reason: str
) -> Case | Unfit:
    varied = with_user_texts(case, lambda text: pattern.sub(change, text))
    return Unfit(reason) if [*user_texts(varied)] == [*user_texts(case)] else varied


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
