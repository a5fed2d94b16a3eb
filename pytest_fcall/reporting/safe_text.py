"""Text from models and files, made safe for a terminal."""

from __future__ import annotations

_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(map(chr, range(0xFE00, 0xFE10)))
"""Invisible characters that Unicode counts as printable: fillers, a blank pattern, variation selectors."""

_FLOOD = 20_000
"""Characters of a line that nobody reads to its end."""
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def safe(text: str, limit: int = 2000) -> str:
    """Return `text` with escapes for all that is invisible or that a terminal would obey.

    Control characters, ANSI sequences, marks of direction, lone surrogates, invisible characters and unusual
    spaces become `\\x1b`, `\\u202e` and the like. Newlines stay. If there are more than `limit` characters, the middle
    is replaced by the number of characters left out.
    """
    return "\n".join(_escaped(line) for line in _cut(text, limit).split("\n"))


def laid_out(text: str) -> str:
    """Return all of `text` with such escapes, except for its newlines and tabs, by which it is laid out."""
    if text.isascii() and text.isprintable():
        return text
    return "\n".join("\t".join(map(_escaped, line.split("\t"))) for line in text.split("\n"))


def safe_line(text: str, limit: int = 500) -> str:
    """Like `safe`, on one line: newlines become `\\n`."""
    return _escaped(_cut(text, limit))


def whole_line(text: str) -> str:
    """Like `safe_line`, for text that was made as short as it makes sense: only a flood of it is cut."""
    return safe_line(text, _FLOOD)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    tail = limit // 3
    return f"{text[: limit - tail]}[{len(text) - limit:,} characters left out]{text[len(text) - tail :]}"


def _escaped(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_escaped_character, text))


def _escaped_character(character: str) -> str:
    if character.isprintable() and character not in _INVISIBLE and not "\U000e0100" <= character <= "\U000e01ef":
        return character
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
