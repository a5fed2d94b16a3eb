"""The shapes of what other packages may add through the hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pytest_fcall.core.backend import Backend, Model
from pytest_fcall.core.case import Case
from pytest_fcall.core.expectation import Profile
from pytest_fcall.core.fault import FaultyCase
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.reply import Calls
from pytest_fcall.core.request import Tool
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


class Undecided(Exception):
    """Nobody can say whether a value matches. The text says why, without a full stop."""


class Comparator(Protocol):
    """Decides an operator. Returns None where `got` matches, else a sentence that says what is wrong.

    May raise Undecided. The one under the name `judge` decides `$judge`.
    """

    def __call__(self, operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
        """Compare."""
        ...


class Decoder(Protocol):
    """Reads calls out of text. Total: any text gives Calls, never an exception.

    `tools` are those that were offered, or none where nobody knows: some formats write arguments without their
    names, or all values as text, and only the tools say what is meant.
    """

    def __call__(self, text: str, tools: Sequence[Tool], /) -> Calls:
        """Decode."""
        ...


class Suite(Protocol):
    """A public benchmark in its native format.

    A suite may have more methods, which are looked for by name: `about`, `figures`, `scores`, `averages`,
    `figure_names` and `profile`, below.
    """

    def cases(self, part: str, path: Path | None) -> Iterable[Case | FaultyCase]:
        """Read the cases of one part, or of all parts where `part` is empty.

        `path` is where the data is, None for an installed package. A ValueError's text is shown to the user: that
        there is no such part, or no data, and what to do about it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a suite, as `fcall suites` lists it."""

    name: str
    cases: int | None = None
    """How many there are; None where the data is not at hand."""
    size: int | None = None
    """Of its files, in bytes."""
    note: str = ""
    """What is judged otherwise than in the original, or not at all."""


@dataclass(frozen=True, slots=True)
class About:
    """What there is to know of a suite before it is run."""

    title: str
    licence: str = ""
    origin: str = ""
    """How to get the data, in words."""
    place: str | None = None
    """Where the data was found."""
    parts: tuple[Part, ...] = ()
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names for several parts."""
    mended: tuple[str, ...] = ()
    """Faults of the data that are mended as it is read, a line each."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A score that a suite works out of its categories, or of the scores of its cases."""

    name: str
    """One word, by which gates bound it."""
    share: float | None
    """From 0 to 1; None where cases are missing that it is made of."""
    of: str = ""
    """The category or the tag that it is about, where there are several of one name."""
    note: str = ""
    """What people must know who read it."""

    @property
    def title(self) -> str:
        """Its name as gates write it: `success[booking]`."""
        return f"{self.name}[{self.of}]" if self.of else self.name


@dataclass(frozen=True, slots=True)
class Measured:
    """A score of a run, over the cases of a tag."""

    tag: str
    score: str
    cases: int
    value: float | None
    """From 0 to 1; None where there is nothing to divide by."""


def about_of(name: str, suite: Suite, path: Path | None) -> About:
    """What a suite says of itself, if it has a method `about(path)` to say so."""
    about: Callable[[Path | None], About] | None = getattr(suite, "about", None)
    return about(path) if about else About(name)


def profile_of(suite: Suite) -> Profile:
    """The profile by which its cases are judged unless a run asks for another, if it has a method `profile()`."""
    profile: Callable[[], Profile] | None = getattr(suite, "profile", None)
    return profile() if profile else "strict"


def figures_of(suite: Suite, tallies: Mapping[str, tuple[int, int]]) -> Sequence[Figure]:
    """The suite's own scores, if it has a method `figures(tallies)`: by category, how many of how many are right."""
    figures: Callable[[Mapping[str, tuple[int, int]]], Sequence[Figure]] | None = getattr(suite, "figures", None)
    return figures(tallies) if figures else ()


def figure_of(name: str, tallies: Iterable[tuple[int, int]], of: str = "") -> Figure:
    """The share of right answers in several categories together."""
    counted = list(tallies)
    asked = sum(number for _, number in counted)
    return Figure(name, sum(right for right, _ in counted) / asked if asked else None, of)


def figure_names_of(suite: Suite) -> Sequence[str]:
    """The names of all its figures and averages, if it has a method `figure_names()`: gates know these."""
    names: Callable[[], Sequence[str]] | None = getattr(suite, "figure_names", None)
    return names() if names else ()


def scores_of_suite(suite: Suite, case: Case) -> Mapping[str, Sequence[str]]:
    """The scores that are always told of a case of the suite, if it has a method `scores(case)`: by tag, their names.

    The tags need not be those of the case.
    """
    scores: Callable[[Case], Mapping[str, Sequence[str]]] | None = getattr(suite, "scores", None)
    return scores(case) if scores else {}


def averages_of(suite: Suite, measured: Sequence[Measured]) -> Sequence[Figure]:
    """What the suite makes of the scores of its cases, if it has a method `averages(measured)` to say so."""
    averages: Callable[[Sequence[Measured]], Sequence[Figure]] | None = getattr(suite, "averages", None)
    return averages(measured) if averages else ()
