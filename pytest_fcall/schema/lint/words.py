"""The facts that descriptions state in words: values, bounds, formats, defaults."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")
_EMPTY_WORDS: Final = frozenset(
    [
        "a",
        "an",
        "and",
        "any",
        "api",
        "are",
        "as",
        "at",
        "be",
        "by",
        "call",
        "can",
        "do",
        "does",
        "for",
        "from",
        "function",
        "given",
        "get",
        "in",
        "into",
        "is",
        "it",
        "its",
        "may",
        "method",
        "of",
        "on",
        "or",
        "provided",
        "return",
        "returns",
        "s",
        "so",
        "specified",
        "such",
        "that",
        "the",
        "their",
        "them",
        "these",
        "this",
        "to",
        "tool",
        "use",
        "used",
        "uses",
        "using",
        "which",
        "will",
        "with",
        "you",
        "your",
    ]
)
_LONGEST_TEXT: Final = 4_000
"""The rules read no more of a description: it may be anything that a server sends."""

_LIST: Final = re.compile(
    r"(?:(?:(?:must|can|may|should) be )?(?:one of|either)|(?:must|can|may|should) be|"
    r"(?:possible|allowed|valid|accepted|supported|available) "
    r"(?:values|options|choices|types|units)(?: are| include)?|options(?: are| include)?|choices(?: are)?)"
    r"\s*(?:the following)?\s*[:(\[]?\s*(?P<list>[^.;\n]{3,300})",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(
    r"""['"`\u2018\u201c]([\w .+/-]{1,30})['"`\u2019\u201d](?=\s*(?:,|/|\||or\b|and\b|[.;:)\]]|$))"""
)
_EXAMPLE: Final = re.compile(r"\be\.?\s?g\b|\bsuch as\b|\bfor example\b|\blike\b|\bexamples?\b|\betc\b", re.IGNORECASE)
_SEPARATOR: Final = re.compile(r"\s*(?:,\s*(?:or|and)\s|,|\||/|\bor\b|\band\b)\s*")
_NUMBER: Final = r"-?\d[\d,]*(?:\.\d+)?"
_BOUNDS: Final = re.compile(
    rf"\bbetween {_NUMBER} (?:and|to) {_NUMBER}"
    rf"|\b(?:range|from|in)(?: is| of)?:? ?[\[(]?{_NUMBER} ?(?:to|-|\u2013|,) ?{_NUMBER}"
    rf"|\(\s*{_NUMBER}\s*(?:to|-|\u2013)\s*{_NUMBER}\s*\)"
    rf"|\b(?:at (?:least|most)|no (?:more|less) than|not exceed|(?:greater|less) than) ?{_NUMBER}"
    rf"|\b(?:max|min)imum (?:of|is) ?{_NUMBER}"
    rf"|\b(?:max|min)(?:imum)?: ?{_NUMBER}"
    r"|\b(?:must|should) be (?:a )?(?:positive|non-negative)\b|\bpositive (?:integer|number)",
    re.IGNORECASE,
)
_FORMATS: Final = (
    (
        "date-time",
        re.compile(r"\bYYYY-MM-DD[T ]HH:MM|\bRFC ?3339\b|\bISO[ -]?8601 (?:date[ -]?time|timestamp)", re.IGNORECASE),
    ),
    ("date", re.compile(r"\bYYYY-MM-DD\b|\bISO[ -]?8601\b", re.IGNORECASE)),
    ("uuid", re.compile(r"\bUUID\b", re.IGNORECASE)),
    ("email", re.compile(r"\be-?mail address\b", re.IGNORECASE)),
    ("uri", re.compile(r"\bUR[LI]\b")),
    ("", re.compile(r"\b(?:[DM]{1,2}[/.-]){2}Y{2,4}\b|\bYYYY[/.]MM[/.]DD\b|\bHH:MM\b|\bYYYY-MM\b", re.IGNORECASE)),
)
_DEFAULT: Final = re.compile(
    r"\bdefaults? (?:value )?(?:is|to|:|=)\s*:?\s*(?P<value>'[^']{0,40}'|\"[^\"]{0,40}\"|`[^`]{0,40}`|[\w.+-]{1,40})",
    re.IGNORECASE,
)
_OPTIONAL: Final = re.compile(
    r"\boptional\b|\bmay be (?:left out|omitted)\b|\bif (?:not specified|omitted|left out)\b", re.IGNORECASE
)


def content_words(text: str) -> frozenset[str]:
    """The words of a text that say something, in lower case and without endings of the plural."""
    found = {word.casefold() for word in _WORD.findall(text[:_LONGEST_TEXT])} - _EMPTY_WORDS
    return frozenset({_stem(word) for word in found} - _EMPTY_WORDS)


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def listed_values(text: str) -> list[str]:
    """The values that a description lists as the only ones; none where it gives examples."""
    text = text[:_LONGEST_TEXT]
    for found in _LIST.finditer(text):
        listed = found["list"]
        if _EXAMPLE.search(text[max(found.start() - 20, 0) : found.end()]):
            continue
        quoted = _QUOTED.findall(listed)
        values = quoted or [each.strip("'\"`()[] ") for each in _SEPARATOR.split(listed)]
        if len(values) > 1 and all(value and (quoted or len(value.split()) == 1) for value in values):
            return values
    return []


def bounds(text: str) -> str:
    """The words that bound a number; empty without any."""
    found = _BOUNDS.search(text[:_LONGEST_TEXT])
    return found[0] if found else ""


def named_format(text: str) -> tuple[str, str] | None:
    """The words that name a format, and the `format` of JSON Schema for it; that is empty where there is none."""
    for name, pattern in _FORMATS:
        if found := pattern.search(text[:_LONGEST_TEXT]):
            return found[0], name
    return None


def named_default(text: str) -> str:
    """The default that a description names; empty without one."""
    found = _DEFAULT.search(text[:_LONGEST_TEXT])
    return found["value"].strip("'\"`").rstrip(".") if found else ""


def optional_words(text: str) -> str:
    """The words that call a parameter optional; empty without any."""
    found = _OPTIONAL.search(text[:_LONGEST_TEXT])
    return found[0] if found else ""
