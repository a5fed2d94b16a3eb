"""When two strings are the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from types import MappingProxyType

from pytest_fcall.matching.number_words import with_digits

_QUOTES = dict.fromkeys(map(ord, "‘’‚‛′`´＇"), "'") | dict.fromkeys(map(ord, "“”„‟″«»＂"), '"')
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_UNIFIED = _QUOTES | _DASHES
_BFCL_DROPPED = dict.fromkeys(map(ord, " ,./-_*^"))

_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?")
"""In a number signs and points are no punctuation."""

_LONGEST_COMPARED = 10_000
"""Characters beyond which nobody wrote the same but for a comma."""


def exact(text: str) -> str:
    """Unicode NFC: what looks and means the same, however it is encoded."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def relaxed(text: str) -> str:
    """Without what a reader overlooks: case, compatibility forms, kinds of white space, quotes and dashes."""
    if text.isascii():
        return " ".join(text.replace("`", "'").lower().split())
    # Unified before NFKC too, which would take some quotes apart.
    folded = unicodedata.normalize("NFKC", text.translate(_UNIFIED)).translate(_UNIFIED).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def bfcl(text: str) -> str:
    """As the Berkeley leaderboard's checker reads strings."""
    return text.translate(_BFCL_DROPPED).lower().replace("'", '"')


def as_read(text: str) -> str:
    """Relaxed, and `two adults` is the same as `2 adults`."""
    return with_digits(relaxed(text))


NORMAL_FORMS: Mapping[str, Callable[[str], str]] = MappingProxyType({"exact": exact, "relaxed": relaxed, "bfcl": bfcl})


def near_miss(expected: str, got: str) -> str:
    """Say what to do where two different strings are nearly the same; empty where they are not."""
    if len(got) > _LONGEST_COMPARED:
        return ""
    if relaxed(expected) == relaxed(got):
        return "a reader sees no difference: `$text` or `strings: relaxed` would accept it"
    if as_read(expected) == as_read(got):
        return "a reader sees the same number: `$text` would accept it"
    if _NUMBER.fullmatch(expected) and _NUMBER.fullmatch(got):
        return ""
    if (skeleton := _letters(expected)) and skeleton == _letters(got):
        return "only punctuation and spacing differ: `$any` can list both spellings"
    return ""


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", relaxed(text))
