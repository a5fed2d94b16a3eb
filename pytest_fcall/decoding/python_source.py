"""Python expressions in untrusted text: their syntax trees and their ends."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from pytest_fcall.core.values import HUGE_INTEGER
from pytest_fcall.decoding.unreadable import MAX_DEPTH, Unreadable

MAX_LENGTH = 1_000_000
"""The most characters that are read."""
_MAX_STATEMENTS = 10_000
_HARMLESS_LENGTH = 10_000
_STRING_OR_COMMENT = re.compile(
    r"""(?:\b[a-z]{1,2})?(?:
        '''(?:[^'\\]+|\\.|'(?!''))*+ | \"""(?:[^"\\]+|\\.|"(?!""))*+ | '(?:[^'\\\n]+|\\.)*+' | "(?:[^"\\\n]+|\\.)*+"
    ) | \#[^\n]*""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_F_STRING = re.compile(r"r?fr?['\"]", re.IGNORECASE)
_TOO_DEEP = "it is nested too deeply"
# An unclosed string is a token, too. Otherwise each escaped quote in it would be tried as the start of a string.
_PYTHON_TOKEN = re.compile(
    r"""
    '{3}(?:[^'\\]+|\\.|'(?!''))*+(?:'{3}|(?P<unclosed_a>))
    | \"{3}(?:[^"\\]+|\\.|"(?!""))*+(?:\"{3}|(?P<unclosed_b>))
    | '(?:[^'\\\n]+|\\.)*+(?:'|(?P<unclosed_c>))
    | "(?:[^"\\\n]+|\\.)*+(?:"|(?P<unclosed_d>))
    | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<comment>\#[^\n]*) | (?P<line>[\n;])
    """,
    re.DOTALL | re.VERBOSE,
)


class NotPython(Unreadable):
    """A text is not Python, or not the Python that is needed."""


def parse_expression(text: str, *, deepest: int = MAX_DEPTH) -> ast.expr:
    """Give the tree of one Python expression, at most `deepest` levels deep, so that it can be walked recursively.

    Takes linear time. Raises NotPython for any other text. Names are normalised as Python does it (NFKC).
    """
    if len(text) > MAX_LENGTH:
        raise NotPython(f"it has more than {MAX_LENGTH:,} characters")
    if len(text) > _HARMLESS_LENGTH and any(_F_STRING.match(found[0]) for found in _STRING_OR_COMMENT.finditer(text)):
        raise NotPython("it is long and contains an f-string")  # Python takes quadratic time for those
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval").body
    except (RecursionError, MemoryError):
        raise NotPython(_TOO_DEEP) from None
    except SyntaxError as error:
        raise NotPython(_syntax_error_text(error)) from None
    except UnicodeError:
        raise NotPython("it contains half of a surrogate pair") from None
    except ValueError as error:
        raise NotPython(str(error)) from None
    if len(text) > deepest:  # each level needs at least one character
        _check_depth(tree, deepest)
    return tree


def _check_depth(tree: ast.AST, deepest: int) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(deepest):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise NotPython(_TOO_DEEP)


def _syntax_error_text(error: SyntaxError) -> str:
    if "limit" in error.msg:  # the limit of digits of an integer
        return HUGE_INTEGER
    reason = error.msg.partition(" (<")[0]
    return f"{reason} (line {error.lineno}, column {error.offset})" if error.lineno else reason


def expression_end(text: str, start: int) -> int:
    """Give the place after the bracket that closes the first one from `start` on. Raises NotPython where none does."""
    depth = 0
    for token in _PYTHON_TOKEN.finditer(text, start):
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
    """Split text at line ends and semicolons outside brackets, without comments. Raises NotPython at too many."""
    for count, statement in enumerate(filter(None, map(str.strip, _raw_statements(text))), 1):
        if count > _MAX_STATEMENTS:
            raise NotPython(f"it has more than {_MAX_STATEMENTS:,} lines")
        yield statement


def _raw_statements(text: str) -> Iterator[str]:
    depth = start = 0
    for token in _PYTHON_TOKEN.finditer(text):
        if token.lastgroup == "open":
            depth += 1
        elif token.lastgroup == "close":
            depth -= 1
        elif token.lastgroup in {"comment", "line"} and depth <= 0:
            yield text[start : token.start()]
            start = token.end()
    yield text[start:]
