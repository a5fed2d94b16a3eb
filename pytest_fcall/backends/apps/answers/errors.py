"""The value that an app returned is no answer, or holds something that is not understood."""

from __future__ import annotations

ALLOWED_ANSWERS = (
    "text, a list of calls ({'name': ..., 'arguments': {...}}), a message, the list of all messages, "
    "or the result of an agent framework, as listed in the documentation under 'What an app is handed, and may return'"
)


class AnswerError(TypeError):
    """An app returned a value that is not an answer, or that is not understood as a whole."""


def not_understood(place: str, what: str, understood: str) -> AnswerError:
    """The error that names what is not understood, where in the answer it stands, and what would be understood.

    An answer of which a part was passed over might be one without calls.
    """
    where = f"{place} is" if place else "it is"
    return AnswerError(f"the app returned an answer that is not understood: {where} {what}; understood: {understood}")


def inside(place: str, name: str | int) -> str:
    """The place of a field or an item of what stands at `place`."""
    if isinstance(name, int):
        return f"{place or 'messages'}[{name}]"
    return f"{place}.{name}" if place else name
