"""The error of tools and schemas that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence


class SchemaError(ValueError):
    """A tool cannot be read, or its schema cannot be used.

    `path` is the path of the error in the given data; it is empty for all of the data, and for tools that were not
    read from data.
    """

    def __init__(self, message: str, path: Sequence[str | int] = (), hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path: tuple[str | int, ...] = tuple(path)
        self.hint = hint
