"""Syntax trees of Java and JavaScript, and the literals that both languages share."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_fcall.decoding.unreadable import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Parser

    from pytest_fcall.core.values import Json


SourceLanguage: TypeAlias = Literal["java", "javascript"]

MAX_LENGTH = 10_000
"""Bytes that are still read: mending broken text costs a parser more than linear time."""


class NotSource(ValueError):
    """The text says why, without a full stop."""


def parse_source(source: bytes, language: SourceLanguage) -> Node:
    """Give the root of a tree without errors; what the parser put in itself (a semicolon, mostly) is no error."""
    if len(source) > MAX_LENGTH:
        raise NotSource(f"it has more than {MAX_LENGTH:,} bytes")
    if len(source) > _HARMLESS and source.count(b"/*") > _MOST_COMMENTS:
        raise NotSource("it holds too many comments")  # each is looked for up to the end
    from tree_sitter import Parser

    parser = Parser(_grammar(language))
    root = parser.parse(source).root_node if len(source) <= _HARMLESS else _parse_guarded(parser, source)
    if root.has_error or root.descendant_count > MAX_DEPTH:
        _check_tree(root, language)
    return root


_HARMLESS = 1_000
_MOST_MENDED = 100
_MOST_COMMENTS = 20
_LANGUAGE_NAMES = {"java": "Java", "javascript": "JavaScript"}


@cache
def _grammar(language: SourceLanguage) -> Grammar:
    from tree_sitter import Language as Grammar

    if language == "java":
        import tree_sitter_java

        return Grammar(tree_sitter_java.language())
    import tree_sitter_javascript

    return Grammar(tree_sitter_javascript.language())


def _parse_guarded(parser: Parser, source: bytes) -> Node:
    """Give up on text that the parser mends again and again, or goes over again and again."""
    mended = rounds = 0

    def note(_: object, step: str) -> None:
        nonlocal mended
        mended += step.startswith(("recover", "skip_token"))

    def is_enough(*_: object) -> bool:
        nonlocal rounds
        rounds += 1  # of a hundred steps; sound source takes up to six a byte
        return mended > _MOST_MENDED or rounds > len(source) // 10

    parser.logger = note
    try:
        return parser.parse(lambda offset, _: source[offset:], progress_callback=is_enough).root_node
    except ValueError:
        raise NotSource("it is broken in many places, or ambiguous") from None


def _check_tree(root: Node, language: SourceLanguage) -> None:
    level = [root]
    for _ in range(MAX_DEPTH):
        if any(node.is_error for node in level):
            raise NotSource(f"it is not {_LANGUAGE_NAMES[language]}")
        level = [child for node in level for child in node.children]
        if not level:
            return
    raise NotSource("it is nested too deep")


_MAX_DIGITS = 3_500  # in hexadecimal, too, fewer than Python would refuse to write down
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "s": " ", "\n": ""}
_WIDTHS = {"x": 2, "u": 4}


class NotLiteral(ValueError):
    """The text is no value written out."""


def text_of(node: Node) -> str:
    """Give the source text of a node."""
    return (node.text or b"").decode()


def read_or_text(read: Callable[[Node], Json], node: Node) -> Json:
    """Read an item of a collection; what is no literal stands for itself, such as the name of a variable."""
    try:
        return read(node)
    except NotLiteral:
        return text_of(node)


def unescaped(text: str) -> str:
    """Give what a quoted text says. Halves of characters that make one are put together."""
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
    """Read a whole number: decimal, or with a prefix for another base."""
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
    """Put a sign before a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or operator not in {"-", "+"}:
        raise NotLiteral
    return -value if operator == "-" else value


def object_of(pairs: list[tuple[Json, Json]]) -> dict[str, Json]:
    """Make an object of keys and values; a key that is a number or a truth value is written as JSON writes it."""
    found: dict[str, Json] = {}
    for key, value in pairs:
        if not isinstance(key, str | int | float):
            raise NotLiteral
        found[str(key).lower() if isinstance(key, bool) else str(key)] = value
    return found
