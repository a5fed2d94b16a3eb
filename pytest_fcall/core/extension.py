"""The protocols and data of extensions by other packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_fcall.core.backend import Backend, Model
    from pytest_fcall.core.case import Case, FaultyCase
    from pytest_fcall.core.expectation import Profile
    from pytest_fcall.core.operators import Pattern
    from pytest_fcall.core.reply import Calls
    from pytest_fcall.core.request import AppRequest, Tool
    from pytest_fcall.core.values import Json


class BackendFactory(Protocol):
    """Makes the backend of one model. Must be cheap: weights, clients and servers start with the first request."""

    def __call__(self, model: Model, root: Path) -> Backend:
        """Make the backend; `root` is pytest's root folder."""
        ...


class ToolSource(Protocol):
    """Reads tools from the value of the source's key in a case file.

    `folder` is that of the case file. The message of a ValueError is shown to the user with the place in the file.
    """

    def __call__(self, spec: Json, folder: Path) -> Sequence[Tool]:
        """Read the tools."""
        ...


class AgentKind(Protocol):
    """Knows the agents of one framework. It imports the framework no earlier than it calls one of its agents."""

    def recognizes(self, thing: object, /) -> bool:
        """Whether this is an agent of the framework. Called for every object that a user names."""
        ...

    def call(self, agent: Any, request: AppRequest, /) -> object:
        """Run the agent on a conversation of its own, and return its answer, or an awaitable of it.

        An answer is what a Python app may return. Nothing may be left of an earlier call. Raises CaseRefused for
        what the framework cannot take.
        """
        ...

    def tools(self, agent: Any, /) -> Sequence[object]:
        """The agent's tools: functions, Tools, or mappings in any provider's shape. Asks no server."""
        ...


class Comparator(Protocol):
    """Compares a value with an operator. Returns None if `got` matches, else a sentence that says what is wrong.

    May raise Undecided. The comparator named `judge` decides `$judge`.
    """

    def __call__(self, operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
        """Compare."""
        ...


class Decoder(Protocol):
    """Reads calls from text. Must not raise, whatever the text.

    `tools` are those that were offered, or none where they are unknown. Some formats write arguments without names, or
    all values as text, and need the tools to read them.
    """

    def __call__(self, text: str, tools: Sequence[Tool], /) -> Calls:
        """Decode."""
        ...


class Suite(Protocol):
    """A public benchmark in its native format.

    A suite may also have the methods `about`, `figures`, `case_figures`, `scores`, `averages`, `tables`,
    `figure_names`, `published` and `profile`, which the functions below call.
    """

    def cases(self, part: str, path: Path | None) -> Iterable[Case | FaultyCase]:
        """Read the cases of one part, or of all parts if `part` is empty.

        `path` is the place of the data, None for an installed package. The message of a ValueError is shown to the
        user: the part or the data does not exist, and what to do about it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a suite, as `fcall suites` lists it."""

    name: str
    cases: int | None = None
    """The number of cases; None where the data is not available."""
    size: int | None = None
    """The size of its files, in bytes."""
    note: str = ""
    """Differences from the original in judging."""


@dataclass(frozen=True, slots=True)
class About:
    """The description of a suite."""

    title: str
    licence: str = ""
    origin: str = ""
    """The way to get the data."""
    place: str | None = None
    """The place of the data, if it was found."""
    parts: tuple[Part, ...] = ()
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names for several parts."""
    mended: tuple[str, ...] = ()
    """Corrections to faults of the data, a line each."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A score that a suite computes from its categories, or from the scores of its cases."""

    name: str
    """One word, by which gates refer to it."""
    share: float | None
    """From 0 to 1; None where cases for it are missing."""
    of: str = ""
    """Its category or tag, where several scores have one name."""
    note: str = ""
    """A remark for readers."""

    @property
    def title(self) -> str:
        """The name as gates write it: `success[booking]`."""
        return f"{self.name}[{self.of}]" if self.of else self.name


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a suite's own. The first cell of a row is words, the others are figures."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """A score of the cases with a tag in one run."""

    tag: str
    score: str
    cases: int
    value: float | None
    """From 0 to 1; None where the score is undefined."""


def about_of(name: str, suite: Suite, path: Path | None) -> About:
    """Give the description of a suite from its method `about(path)`, if it has one."""
    about: Callable[[Path | None], About] | None = getattr(suite, "about", None)
    return about(path) if about else About(name)


def profile_of(suite: Suite) -> Profile:
    """Give the default profile of a suite's cases from its method `profile()`, if it has one."""
    profile: Callable[[], Profile] | None = getattr(suite, "profile", None)
    return profile() if profile else "strict"


def figures_of(suite: Suite, tallies: Mapping[str, tuple[int, int]]) -> Sequence[Figure]:
    """Give the suite's own scores from its method `figures(tallies)`, if it has one.

    `tallies` are the numbers of right and of all answers by category.
    """
    figures: Callable[[Mapping[str, tuple[int, int]]], Sequence[Figure]] | None = getattr(suite, "figures", None)
    return figures(tallies) if figures else ()


def case_figures_of(suite: Suite, tallies: Mapping[str, tuple[int, int]]) -> Sequence[Figure]:
    """Give the scores that a suite makes of single cases from its method `case_figures(tallies)`, if it has one.

    `tallies` are the numbers of right and of all answers by the id of the case.
    """
    figures: Callable[[Mapping[str, tuple[int, int]]], Sequence[Figure]] | None = getattr(suite, "case_figures", None)
    return figures(tallies) if figures else ()


def published_of(suite: Suite, tallies: Mapping[str, tuple[int, int]]) -> Sequence[Figure]:
    """Give what the suite's published tables have, by their columns, from its method `published(tallies)`, if any."""
    published: Callable[[Mapping[str, tuple[int, int]]], Sequence[Figure]] | None = getattr(suite, "published", None)
    return published(tallies) if published else ()


def figure_of(name: str, tallies: Iterable[tuple[int, int]], of: str = "") -> Figure:
    """Give the share of right answers in several categories together."""
    counted = list(tallies)
    asked = sum(number for _, number in counted)
    return Figure(name, sum(right for right, _ in counted) / asked if asked else None, of)


def figure_names_of(suite: Suite) -> Sequence[str]:
    """Give the names of all figures and averages, for gates, from the method `figure_names()`, if the suite has one."""
    names: Callable[[], Sequence[str]] | None = getattr(suite, "figure_names", None)
    return names() if names else ()


def scores_of_suite(suite: Suite, case: Case) -> Mapping[str, Sequence[str]]:
    """Give the scores that are always reported for a case from the suite's method `scores(case)`, if it has one.

    They are names of scores by tag; the tags need not be those of the case.
    """
    scores: Callable[[Case], Mapping[str, Sequence[str]]] | None = getattr(suite, "scores", None)
    return scores(case) if scores else {}


def averages_of(suite: Suite, measured: Sequence[Measured]) -> Sequence[Figure]:
    """Give averages of the scores of a suite's cases from its method `averages(measured)`, if it has one."""
    averages: Callable[[Sequence[Measured]], Sequence[Figure]] | None = getattr(suite, "averages", None)
    return averages(measured) if averages else ()


def tables_of(suite: Suite, measured: Sequence[Measured]) -> Iterable[Table]:
    """Give the tables that a suite makes of the scores of its cases in its method `tables(measured)`, if it has one."""
    tables: Callable[[Sequence[Measured]], Iterable[Table]] | None = getattr(suite, "tables", None)
    return tables(measured) if tables else ()
