"""Two versions of a text in one line, in the manner of `git diff --word-diff`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from pytest_fcall.reporting.safe_text import safe_line

_AROUND = 4
"""Unchanged words that are shown before and after a change."""
_MOST_WORDS = 2000
"""Longer texts are compared as far as this. The time grows with the square of the length."""
_LONGEST = 300
"""Characters of the whole line."""


def word_diff(old: str, new: str) -> str:
    """The changed words with their surroundings: `are a [-helpful-]{+friendly+} clerk …`."""
    before, after = _words(old), _words(new)
    pieces = " ".join(filter(None, _pieces(before, after)))
    return safe_line(pieces if len(pieces) <= _LONGEST else f"{pieces[:_LONGEST]}…")


def _words(text: str) -> Sequence[str]:
    return re.findall(r"\S+", text)[:_MOST_WORDS]


def _pieces(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    groups = SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_AROUND)
    end = 0
    for group in groups:
        if group[0][1] > end:
            yield "…"
        for kind, start, stop, now_start, now_stop in group:
            if kind == "equal":
                yield " ".join(before[start:stop])
            else:
                removed, added = before[start:stop], after[now_start:now_stop]
                yield (f"[-{' '.join(removed)}-]" if removed else "") + (f"{{+{' '.join(added)}+}}" if added else "")
        end = group[-1][2]
    if end < len(before):
        yield "…"
