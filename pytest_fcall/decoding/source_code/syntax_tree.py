"""Syntax trees of Java and JavaScript, and the literals that both languages share."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_fcall.decoding.unreadable_text import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Parser

    from pytest_fcall.core.values import Json


_Language: TypeAlias = Literal["java", "javascript"]

MAX_LENGTH = 10_000
"""The most bytes that are read: repairing broken text takes the parser more than linear time."""

_HARMLESS_LENGTH = 1_000
_MAX_REPAIRS = 100
_MAX_COMMENTS = 20
_LANGUAGE_NAMES = {"java": "Java", "javascript": "JavaScript"}
_MAX_DIGITS = 3_500  # even in hexadecimal, few enough for Python to write the integer in decimal
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "s": " ", "\n": ""}
_WIDTHS = {"x": 2, "u": 4}


class NotSource(ValueError):
    """A text cannot be parsed. The message is a clause without a full stop."""


class NotLiteral(ValueError):
    """An expression is not a literal."""


def parse_source(source: bytes, language: _Language) -> Node:
    """Give the root of a tree without errors. Tokens that the parser inserted, mostly semicolons, are allowed.

    Raises NotSource.
    """
    if len(source) > MAX_LENGTH:
        raise NotSource(f"it has more than {MAX_LENGTH:,} bytes")
    if len(source) > _HARMLESS_LENGTH and source.count(b"/*") > _MAX_COMMENTS:
        raise NotSource("it contains too many comments")  # the parser searches to the end for each
    from tree_sitter import Parser

    parser = Parser(_grammar(language))
    root = parser.parse(source).root_node if len(source) <= _HARMLESS_LENGTH else _parse_guarded(parser, source)
    if root.has_error or root.descendant_count > MAX_DEPTH:
        _check_tree(root, language)
    return root


@cache
def _grammar(language: _Language) -> Grammar:
    from tree_sitter import Language as Grammar

    if language == "java":
        import tree_sitter_java

        return Grammar(tree_sitter_java.language())
    import tree_sitter_javascript

    return Grammar(tree_sitter_javascript.language())


def _parse_guarded(parser: Parser, source: bytes) -> Node:
    """Parse text, but give up where the parser repairs it or goes over it too often."""
    repairs = rounds = 0

    def count_repair(_: object, step: str) -> None:
        nonlocal repairs
        repairs += step.startswith(("recover", "skip_token"))

    def is_enough(*_: object) -> bool:
        nonlocal rounds
        rounds += 1  # a round has a hundred steps; valid source takes up to six steps for each byte
        return repairs > _MAX_REPAIRS or rounds > len(source) // 10

    parser.logger = count_repair
    try:
        return parser.parse(lambda offset, _: source[offset:], progress_callback=is_enough).root_node
    except ValueError:
        raise NotSource("it is broken in many places, or ambiguous") from None


def _check_tree(root: Node, language: _Language) -> None:
    level = [root]
    for _ in range(MAX_DEPTH):
        if any(node.is_error for node in level):
            raise NotSource(f"it is not {_LANGUAGE_NAMES[language]}")
        level = [child for node in level for child in node.children]
        if not level:
            return
    raise NotSource("it is nested too deeply")


def text_of(node: Node) -> str:
    """Give the source text of a node."""
    return (node.text or b"").decode()


def read_or_text(read: Callable[[Node], Json], node: Node) -> Json:
    """Read an item of a collection. One that is not a literal, such as a variable, gives its source text."""
    try:
        return read(node)
    except NotLiteral:
        return text_of(node)


def unescape(text: str) -> str:
    """Give the value of a quoted string. Surrogate pairs become one character."""
    inner, out, place = text[1:-1], [], 0
    while (slash := inner.find("\\", place)) >= 0:
        out.append(inner[place:slash])
        place = slash + 2
        letter = inner[slash + 1 : place]
        digits = inner[place : place + _WIDTHS.get(letter, 0)]
        if digits and all(digit in "0123456789abcdefABCDEF" for digit in digits):
            out.append(chr(int(digits, 16)))
            place += len(digits)
        else:
            out.append(_ESCAPES.get(letter, letter))
    out.append(inner[place:])
    return "".join(out).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def integer(text: str) -> int:
    """Read an integer: decimal, or with a prefix for another base. Raises NotLiteral."""
    digits = text.replace("_", "")
    if len(digits) > _MAX_DIGITS:
        raise NotLiteral
    try:
        if len(digits) > 1 and digits[0] == "0" and digits.isdecimal():
            return int(digits, 8)
        return int(digits, 0)
    except ValueError:
        raise NotLiteral from None


def signed_number(operator: str, value: Json) -> Json:
    """Apply a sign to a number. Raises NotLiteral."""
    if isinstance(value, bool) or not isinstance(value, int | float) or operator not in {"-", "+"}:
        raise NotLiteral
    return -value if operator == "-" else value


def object_of(pairs: list[tuple[Json, Json]]) -> dict[str, Json]:
    """Make an object of keys and values. Keys that are numbers or booleans become JSON text. Raises NotLiteral."""
    result: dict[str, Json] = {}
    for key, value in pairs:
        if not isinstance(key, str | int | float):
            raise NotLiteral
        result[str(key).lower() if isinstance(key, bool) else str(key)] = value
    return result
