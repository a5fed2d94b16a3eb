"""Where Python expressions end in a text, found without parsing. Takes linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_fcall.decoding.python.source import NotPython

MOST_STATEMENTS = 10_000

# A string that is not closed is a token, too: else each of its escaped quotes would be tried as a string of its own.
_TOKEN = re.compile(
    r"""
    '{3}(?:[^'\\]+|\\.|'(?!''))*+(?:'{3}|(?P<broken_a>))
    | \"{3}(?:[^"\\]+|\\.|"(?!""))*+(?:\"{3}|(?P<broken_b>))
    | '(?:[^'\\\n]+|\\.)*+(?:'|(?P<broken_c>))
    | "(?:[^"\\\n]+|\\.)*+(?:"|(?P<broken_d>))
    | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<comment>\#[^\n]*) | (?P<line>[\n;])
    """,
    re.DOTALL | re.VERBOSE,
)


def end_of(text: str, start: int) -> int:
    """Give the place behind the bracket that closes the first one from `start` on; NotPython where none does."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        match token.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth -= 1
                if depth <= 0:
                    return token.end()
            case None | "comment" | "line":
                pass
            case _:
                raise NotPython("a string is not closed")
    raise NotPython("a bracket is not closed")


def statements(text: str) -> Iterator[str]:
    """Take text apart at line ends and semicolons outside brackets, without comments.

    NotPython where there are more than `MOST_STATEMENTS`.
    """
    for count, statement in enumerate(filter(None, map(str.strip, _pieces(text))), 1):
        if count > MOST_STATEMENTS:
            raise NotPython(f"it has more than {MOST_STATEMENTS:,} lines")
        yield statement


def _pieces(text: str) -> Iterator[str]:
    depth = start = 0
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "open":
            depth += 1
        elif token.lastgroup == "close":
            depth -= 1
        elif token.lastgroup in {"comment", "line"} and depth <= 0:
            yield text[start : token.start()]
            start = token.end()
    yield text[start:]
