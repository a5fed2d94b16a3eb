"""What the readers of both languages share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

    from pytest_fcall.core.values import Json

_MOST_DIGITS = 3_500  # in hexadecimal, too, fewer than Python would refuse to write down
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "s": " ", "\n": ""}
_WIDTHS = {"x": 2, "u": 4}


class NotLiteral(ValueError):
    """The text is no value written out."""


def text_of(node: Node) -> str:
    """Give the source text of a node."""
    return (node.text or b"").decode()


def or_text(read: Callable[[Node], Json], node: Node) -> Json:
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
    if len(digits) > _MOST_DIGITS:
        raise NotLiteral
    try:
        if len(digits) > 1 and digits[0] == "0" and digits.isdecimal():
            return int(digits, 8)
        return int(digits, 0)
    except ValueError:
        raise NotLiteral from None


def signed(operator: str, value: Json) -> Json:
    """Put a sign before a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or operator not in {"-", "+"}:
        raise NotLiteral
    return -value if operator == "-" else value


def mapping(pairs: list[tuple[Json, Json]]) -> dict[str, Json]:
    """Make an object of keys and values; a key that is a number or a truth value is written as JSON writes it."""
    found: dict[str, Json] = {}
    for key, value in pairs:
        if not isinstance(key, str | int | float):
            raise NotLiteral
        found[str(key).lower() if isinstance(key, bool) else str(key)] = value
    return found
