"""A question with the calls that are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from pytest_fcall.core.call import Call

Path: TypeAlias = tuple[Call, ...]
NAMELESS: Final = "value"
"""What an argument is called that has no name, as in `LoadDB[flights]`."""


class Unknown(str):
    """What stands for a value that nobody knows, such as `${id from search}`. Whatever a model says there is right."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """One question."""

    text: str
    paths: tuple[Path, ...]
    """What is right; one of them is enough."""
    offered: tuple[str, ...] = ()
    """The functions that may be called; those of the whole data set where it is empty."""
