"""The few characters that are not in every terminal's alphabet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Marks:
    """What stands before a line, and where text was left out."""

    right: str
    wrong: str
    cut: str


UNICODE = Marks("✓", "✗", "…")
ASCII = Marks(".", "!", "...")


def marks_for(encoding: str) -> Marks:
    """The marks that a terminal of this encoding can show."""
    return UNICODE if encodable(UNICODE.right + UNICODE.wrong + UNICODE.cut, encoding) else ASCII


def encodable(text: str, encoding: str) -> bool:
    """Whether a terminal of this encoding can show the text."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def escaped_for(encoding: str, text: str) -> str:
    """The text with escapes for what a terminal of this encoding cannot show; line breaks stay what they are."""
    return text if encodable(text, encoding) else text.encode("ascii", "backslashreplace").decode("ascii")
