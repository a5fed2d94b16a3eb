"""What is wrong with a tool or its schema."""

from __future__ import annotations

from collections.abc import Sequence


class SchemaError(ValueError):
    """A tool cannot be read, or its schema cannot be used.

    `path` leads to the place inside the data that was given; it is empty where the whole is meant, or where the
    tool was not read from data.
    """

    def __init__(self, message: str, path: Sequence[str | int] = (), hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path: tuple[str | int, ...] = tuple(path)
        self.hint = hint
