"""The object in what a model says at last, read as the original evaluator reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from pytest_fcall.core.values import Json

# In this order. Each takes linear time.
_TIDIED = (
    (re.compile(r"(?<=\{)\s++"), ""),
    (re.compile(r"\s\}++"), "}"),
    (re.compile(r"(?<=\[)\s++"), ""),
    (re.compile(r"(?<!\s)\s++(?=\])"), ""),
    (re.compile(r"(?<=,)\s++(?!\w)"), ""),
    (re.compile(r"/s*+,"), ","),
    (re.compile(r"(?<=:)\s++"), ""),
    (re.compile(r"(?<!\s)\s++(?=:)"), ""),
    # Here ends the tidying for this one: a quote after a letter or a blank, and before more text, is an apostrophe.
    (re.compile(r'(?<=[\s\w])"(?![:,}\]])'), "'"),
)


def object_in(text: str) -> Mapping[str, Json] | None:
    """Give the object between the first `{` and the first `}` after it; None where that is none.

    Quotes may be single. An object within it is cut in two, and so cannot be read.
    """
    text = text.replace("'", '"')
    for pattern, replacement in _TIDIED:
        text = pattern.sub(replacement, text)
    start = text.find("{")
    end = text.find("}", start)
    if start < 0 or end < 0:
        return None
    try:
        found: dict[str, Json] = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return found
