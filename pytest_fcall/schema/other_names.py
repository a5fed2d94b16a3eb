"""Other names for tools and parameters, made of the same words, and texts that speak of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")


def words_of(name: str) -> list[str]:
    """The words of a name: `getWeather` has two."""
    return _WORD.findall(name) or [name]


def other_names(names: Sequence[str], lead: str = "do", taken: Iterable[str] = ()) -> dict[str, str]:
    """Another name for each: `get_weather` becomes `weather_get`. `lead` comes before a name of a single word.

    None of the new names is one of the old ones, or of those that are `taken`.
    """
    used, found = {*names, *taken}, dict[str, str]()
    for name in names:
        first, *others = words_of(name)
        words = [*others, first] if others else [lead, first]
        new = "_".join(words).lower()
        while new in used:
            new = f"{new}_again"
        used.add(new)
        found[name] = new
    return found


def with_other_names(text: str, names: Mapping[str, str]) -> str:
    """The text with new names. A name of a single word may be just a word, and stays."""
    for name, new in names.items():
        if len(words_of(name)) > 1:
            text = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\w)", new, text)
    return text
