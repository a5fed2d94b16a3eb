"""What the calls of a family of models look like, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn, Protocol, TypeAlias

from pytest_fcall.core.call import Calls
from pytest_fcall.core.tool import Tool
from pytest_fcall.decoding.gathering import Read
from pytest_fcall.decoding.unreadable import Unreadable

Attempt: TypeAlias = Callable[[], Read]
"""Reads one call that was tried, or raises Unreadable."""


def refusal(sentence: str) -> Attempt:
    """An attempt of which it is known already why it fails."""

    def refuse() -> NoReturn:
        raise Unreadable(sentence)

    return refuse


class Body(Protocol):
    """How to read what stands between the opening and the closing of calls."""

    @property
    def quotes(self) -> bool:
        """Whether the body is JSON, in whose strings a closing is no closing."""
        ...

    def name(self, text: str) -> str | None:
        """Guess whose call it is, if only its beginning is there."""
        ...

    def read(self, text: str, tools: Mapping[str, Tool]) -> Iterator[Attempt]:
        """Give the calls that were tried; `tools` are those offered, by name. Takes linear time."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """One way to write calls.

    With an empty `opening` the whole text is a call, if it begins as `then` says.
    """

    opening: str
    closing: str
    body: Body
    then: str = ""
    """A pattern of what must follow the opening."""
    open_ended: bool = False
    """Whether the end of the text may stand for the closing."""

    @property
    def ends_itself(self) -> bool:
        """Whether a body without a closing is complete."""
        return self.open_ended or not self.closing


Kind: TypeAlias = Literal["said", "thought", "call", "beyond"]
"""What a piece of text is: `beyond` follows the end of the model's turn."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text; a call has the form in which it is written."""

    kind: Kind
    text: str
    form: Form | None = None
    closed: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Models that write calls alike. A family is a decoder: called with a text and tools, it gives Calls."""

    name: str
    models: str
    """Which they are, for people."""
    forms: tuple[Form, ...]
    """Forms with the same opening are told apart by `then`; the first that fits counts."""
    marks: tuple[str, ...] = ()
    """Strings by which text shows itself as a call of this family, the more telling ones first."""
    sections: tuple[str, ...] = ()
    """Tokens around all calls together, which say nothing."""
    thinking: tuple[str, str] = ("<think>", "</think>")
    cut: Callable[[str], Iterator[Piece]] | None = None
    """Takes a text apart where the common scanner cannot."""

    def __call__(self, text: str, tools: Sequence[Tool] = ()) -> Calls:
        """Read the calls in `text`. Never raises."""
        from pytest_fcall.decoding.tagged.reading import read

        return read(self, text, tools)
