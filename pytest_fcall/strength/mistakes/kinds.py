"""The kinds of mistakes, by name, and how often models make each."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from types import MappingProxyType
from typing import Final

MISTAKES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "argument dropped": "an argument, or a key inside one, is left out",
        "argument added": "an optional argument is given that the right answer has not",
        "argument invented": "an argument is given that the tool has not",
        "argument renamed": "the value stands under another name",
        "arguments swapped": "two arguments have each other's values",
        "enum member": "another of the listed values",
        "boolean flipped": "true for false, or false for true",
        "number changed": "a number next to the right one, or ten times it",
        "sign changed": "the number with the other sign",
        "unit changed": "the value in another unit",
        "date changed": "another day, month, year or half of the day",
        "id changed": "an id with another or swapped digits",
        "text longer": "the right text with something added",
        "text shorter": "a part of the right text",
        "text spelled otherwise": "the right text in other letters, with other spaces or punctuation",
        "text replaced": "another text, such as another word of the question",
        "list order": "the items in another order",
        "list item dropped": "a list with an item less",
        "list item added": "a list with an item more",
        "nesting changed": "a value in a list or an object more, or one less",
        "type changed": 'the value as another type: "1", 1.0, true',
        "null given": "null for the value",
        "neighbour tool": "another of the offered tools",
        "tool invented": "a tool that is not offered",
        "call dropped": "one of several calls is missing",
        "call doubled": "a call is made twice",
        "call added": "a call more than is right",
        "calls swapped": "calls in another order, or at once for one after the other",
        "forbidden call": "a call that the case forbids, beside the right ones",
        "answer instead of call": "a text where calls are right",
        "call instead of answer": "a call where none is right",
        "conversation cut": "the conversation ends before its last calls",
        "answer changed": "another text than the right one",
    }
)
"""Each kind of mistake, and what it is."""
SEEN: Final[Mapping[str, int]] = MappingProxyType(
    {
        "call dropped": 3772,
        "call instead of answer": 3394,
        "answer instead of call": 1406,
        "argument dropped": 722,
        "type changed": 704,
        "text replaced": 681,
        "text longer": 587,
        "number changed": 499,
        "text shorter": 298,
        "unit changed": 287,
        "date changed": 267,
        "call added": 227,
        "boolean flipped": 183,
        "nesting changed": 151,
        "neighbour tool": 146,
        "enum member": 141,
        "list item added": 130,
        "argument added": 124,
        "null given": 73,
        "list item dropped": 70,
        "argument invented": 66,
        "argument renamed": 45,
        "text spelled otherwise": 40,
        "tool invented": 34,
        "call doubled": 33,
        "arguments swapped": 16,
        "id changed": 9,
        "list order": 9,
        "sign changed": 6,
    }
)
"""Of the wrong answers of 38 models to BFCL's single questions, those that have each kind of mistake.

tests/conformance/test_strength_weights.py counts them again.
"""

_UNSEEN: Final = median(SEEN.values())
"""The weight of what single questions cannot show: order, conversations, forbidden calls, texts."""


def weight(mistake: str) -> float:
    """The weight of a kind of mistake beside others."""
    return float(SEEN.get(mistake, _UNSEEN))
