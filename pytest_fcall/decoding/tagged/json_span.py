"""Where a JSON value ends, in text that goes on behind it."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r'(?:[\s,:]++|true|false|null|-?\d[\d.eE+\-]*+)*+(?:(?P<string>"(?:[^"\\]|\\.)*+")|(?P<open>[{\[])|(?P<close>[}\]]))',
    re.DOTALL,
)


def json_end(text: str, at: int) -> int | None:
    """Give the end of the object, list or string at `at`, None where its brackets or quotes are not closed.

    Stops at the first character that cannot stand in JSON. No sign by which calls begin or end can stand there outside
    of a string, which keeps a scanner linear that asks this at each of many such signs: of scans that began at
    different signs, at most two ever run on over the same text.
    """
    depth = 0
    while token := _TOKEN.match(text, at):
        at = token.end()
        depth += {"open": 1, "close": -1}.get(str(token.lastgroup), 0)
        if depth <= 0:
            return at
    return None
