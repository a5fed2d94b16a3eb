"""The shapes of what other packages may add through the hooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pytest_fcall.core.backend import Backend
from pytest_fcall.core.call import Calls
from pytest_fcall.core.case import Case
from pytest_fcall.core.model import Model
from pytest_fcall.core.pattern import Pattern
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Json


class BackendFactory(Protocol):
    """Makes the backend of one model. Cheap: weights, clients and servers start with the first request."""

    def __call__(self, model: Model, root: Path) -> Backend:
        """Make the backend; `root` is pytest's root folder."""
        ...


class ToolSource(Protocol):
    """Reads tools from what stands behind the source's key in a case file.

    `folder` is that of the case file. A ValueError's text is shown to the user with the place in the file.
    """

    def __call__(self, spec: Json, folder: Path) -> Sequence[Tool]:
        """Read the tools."""
        ...


class Comparator(Protocol):
    """Decides an operator. Returns None where `got` matches, else a sentence that says what is wrong."""

    def __call__(self, operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
        """Compare."""
        ...


class Decoder(Protocol):
    """Reads calls out of text. Total: any text gives Calls, never an exception.

    `tools` are those that were offered, or none where nobody knows: some formats write arguments without their
    names, or all values as text, and only the tools say what is meant.
    """

    def __call__(self, text: str, tools: Sequence[Tool]) -> Calls:
        """Decode."""
        ...


class Suite(Protocol):
    """A public benchmark in its native format."""

    def cases(self, part: str, path: Path | None) -> Iterable[Case]:
        """Read the cases of one part; `path` is where the data is, None for the installed package."""
        ...
