"""Words of a prompt that may be changed without changing what a right answer is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from pytest_fcall.core.values import Json
from pytest_fcall.variants.case_parts import all_tools, expected_values, hidden_expectation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_fcall.core.case import Case
    from pytest_fcall.core.request import Tool
    from pytest_fcall.core.variants import Unfit

_MARKED: Final = re.compile(
    r"""
    ```.*?(?:```|\Z) | `[^`\n]*`                                     # code
    | "[^"\n]*" | “[^”\n]*” | «[^»\n]*» | „[^“”\n]*[“”]              # quotations
    | (?<!\w)'[^'\n]*'(?!\w) | (?<!\w)‘[^’\n]*’(?!\w)
    | <[^<>\n]*> | \{[^{}]*\} | \[[^\[\]]*\]                         # markup, placeholders, JSON
    """,
    re.VERBOSE | re.DOTALL,
)
_RUN: Final = re.compile(r"\S+")
_NO_WORD: Final = frozenset("0123456789_/\\@#$")
"""A text with one of these is a number, an id, a date, an address, a path, or the name of a tool."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_TOKEN: Final = re.compile(r"\w+")
_LEAST_SHARED: Final = 3
"""Parts of expected values of at least so many letters keep a word that they are in: `Oslo` keeps `Oslos`."""


class NeededWords:
    """The words of a case that a right answer may need as they are written."""

    def __init__(self, case: Case) -> None:
        texts = [text for value in expected_values(case) for text in _spoken(value)]
        tools = all_tools(case).values()
        texts += [text for tool in tools for text in _schema_words(tool)]
        self._texts = [text.casefold() for text in texts]
        self._tokens = {token for text in self._texts for token in _TOKEN.findall(text)}
        self._long = sorted(token for token in self._tokens if len(token) >= _LEAST_SHARED)

    def needs(self, word: str) -> bool:
        """Whether a word must stay as it is."""
        folded = word.casefold()
        if folded in self._tokens or any(token in folded for token in self._long):
            return True
        return len(folded) >= _LEAST_SHARED and any(folded in text for text in self._texts)


def fixed_parts(text: str) -> list[tuple[int, int]]:
    """The parts of a text that stay as they are, whatever is expected: where each begins and ends."""
    runs = (found.span() for found in _RUN.finditer(text) if not _NO_WORD.isdisjoint(found[0]))
    merged: list[tuple[int, int]] = []
    for start, end in sorted([*(found.span() for found in _MARKED.finditer(text)), *runs]):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def free_words(text: str, needed: NeededWords) -> list[re.Match[str]]:
    """The words of a text that may be changed."""
    return [
        word
        for start, end in _free_parts(text)
        for word in _WORD.finditer(text, start, end)
        if not needed.needs(word[0])
    ]


def _free_parts(text: str) -> Iterator[tuple[int, int]]:
    """The starts and ends of the pieces between the fixed parts."""
    before = 0
    for start, end in fixed_parts(text):
        yield before, start
        before = end
    yield before, len(text)


def with_words(text: str, changes: Mapping[int, str], words: list[re.Match[str]]) -> str:
    """The text with some of its words replaced, by their place in `words`."""
    for place in sorted(changes, reverse=True):
        start, end = words[place].span()
        text = text[:start] + changes[place] + text[end:]
    return text


def with_free_parts(text: str, change: Callable[[str], str]) -> str:
    """The text with all parts changed that are not fixed."""
    changed, before = "", 0
    for start, end in _free_parts(text):
        changed += text[before:start] + change(text[start:end])
        before = end
    return changed


def fixed_words_reason(case: Case) -> Unfit | None:
    """The reason why no word of the case may be changed; None where its expectation shows which ones must stay."""
    return hidden_expectation(case)


def _spoken(value: Json) -> Iterator[str]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float):
        yield str(value)


def _schema_words(tool: Tool) -> Iterator[str]:
    """The name of a tool, and the values that its parameters may have."""
    yield tool.name
    waiting: list[Json] = [tool.parameters]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            for member in each.get("enum") or ():
                yield from _spoken(member)
            if "const" in each:
                yield from _spoken(each["const"])
            if isinstance(properties := each.get("properties"), dict):
                yield from properties
            waiting += each.values()
        elif isinstance(each, list | tuple):
            waiting += each
