"""The numbers that a text says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType

from pytest_fcall.matching.number_words import with_digits
from pytest_fcall.matching.strings import relaxed

_LONGEST = 100
"""Characters of a number that somebody may have meant."""
_SUPERSCRIPTS = {ord(digit): f"^{value}" for value, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
"""Told from digits before compatibility forms are unified: 10² is not 102."""
_JOINED = re.compile(r"(?<=[0-9])[\u00a0\u2009\u202f](?=[0-9]{3}(?![0-9]))")
"""Spaces that keep the digits of one number together. An ordinary one may stand between two numbers."""
_NO_NUMBERS = re.compile(r"(?<!\d)(?:\d++([-/])\d++\1\d++|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?!\d)|\d++\u2044\d++)")
"""Dates and telephone numbers, times, fractions."""
_NUMBER = re.compile(
    r"(?P<sign>(?<![\w)%])-|\bminus )?[$€£¥₹]?"
    r"(?<![\w.^])(?P<digits>\.?\d+(?:[.,']\d+)*)"
    r"(?:e(?P<exponent>[-+]?\d{1,3})(?!\w))?"
    r"(?: ?(?P<percent>%|per ?cent\b)| (?P<scale>thousand|million|billion|trillion)\b)?"
)
_SCALES: Mapping[str, int] = MappingProxyType({"thousand": 3, "million": 6, "billion": 9, "trillion": 12})
_GROUPED = re.compile(
    r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"  # 1,234.5
    r"|[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?"  # 1,00,000
    r"|[1-9]\d{0,2}(?:'\d{3})+(?:\.\d+)?"  # 1'234.5
    r"|\d*\.?\d+"
)
_GROUPED_BY_POINTS = re.compile(
    r"[1-9]\d{0,2}(?:\.\d{3})+,\d+|[1-9]\d{0,2}(?:\.\d{3}){2,}|\d+,\d+|[1-9]\d{0,2}(?:'\d{3})+,\d+"
)


def numbers_in(text: str) -> Iterator[Decimal]:
    """Give all numbers that a reader finds in a text, in order; a percentage is its share of one, too.

    Digits behind letters, as in `F7`, are no number, nor are those of dates and times.
    """
    joined = _JOINED.sub("'", text.translate(_SUPERSCRIPTS))
    plain = with_digits(relaxed(joined))
    for found in _NUMBER.finditer(_NO_NUMBERS.sub("/", plain)):
        for value in _values(found["digits"]):
            power = int(found["exponent"] or 0) + _SCALES.get(found["scale"] or "", 0)
            number = value.scaleb(power) * (-1 if found["sign"] else 1)
            yield number
            if found["percent"]:
                yield number.scaleb(-2)


def _values(written: str) -> list[Decimal]:
    """Read one number, or several that only commas keep apart."""
    if len(written) > _LONGEST:
        return []
    if _GROUPED.fullmatch(written):
        return [Decimal(written.replace(",", "").replace("'", ""))]
    if _GROUPED_BY_POINTS.fullmatch(written):
        return [Decimal(written.replace(".", "").replace("'", "").replace(",", "."))]
    return [Decimal(part) for part in written.split(",") if re.fullmatch(r"\d*\.?\d+", part)] if "," in written else []
