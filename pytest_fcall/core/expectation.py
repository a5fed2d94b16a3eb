"""Expected calls, and the rules by which values are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class CallPattern:
    """Matches calls by a glob over tool names and, if `arguments` is given, by patterns on arguments."""

    tool: str
    arguments: Mapping[str, Pattern] | None = None


@dataclass(frozen=True, slots=True)
class StubResult:
    """The result that the test gives to an expected call."""

    returns: tuple[Json, ...] = ()
    """The result of every call, or with `each` one result for each call, in order."""
    each: bool = False
    raises: str | None = None


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """One call that must be made.

    `arguments` is None where any arguments match. With `open`, optional arguments that are not named are allowed.
    """

    tool: str
    arguments: Mapping[str, Pattern] | None = field(default_factory=dict)
    open: bool = False
    times: tuple[int, int | None] = (1, 1)
    """The fewest and the most calls, None for no upper bound."""
    stub: StubResult | None = None
    name: str | None = None
    """The name by which `$from` refers to it (`as:` in a case file)."""
    result: Pattern = None
    """The expected result when the call is executed, None for any."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A right answer: calls, none, or any.

    `stages` are groups of calls: a group may come in any order, and must come after the groups before it. A plain list
    of calls is one stage; every `then:` adds one. With `kind="no_call"` the model must not call a tool, with
    `"any_call"` it must call one, and with `"any_of"` it must meet one of `alternatives`.
    """

    kind: Literal["calls", "no_call", "any_call", "any_of"] = "calls"
    stages: tuple[tuple[ExpectedCall, ...], ...] = ()
    order: Literal["any", "strict"] = "any"
    extra: Literal["forbid", "allow"] = "forbid"
    allow: tuple[CallPattern, ...] = ()
    never: tuple[CallPattern, ...] = ()
    alternatives: tuple[Expectation, ...] = ()
    parallel: Literal["as_given", "free"] = "as_given"
    """With `as_given` the calls of a stage must come in one reply, and those of the next stage in a later one."""

    @property
    def calls(self) -> tuple[ExpectedCall, ...]:
        """The calls of all stages."""
        return tuple(call for stage in self.stages for call in stage)

    @property
    def all_calls(self) -> tuple[ExpectedCall, ...]:
        """The calls of all stages and of all alternatives."""
        return self.calls + tuple(call for each in self.alternatives for call in each.all_calls)


def chosen_alternative(expectation: Expectation, alternative: int | None) -> Expectation:
    """Give the alternative of a verdict, by default the first; without alternatives the expectation itself."""
    while expectation.kind == "any_of" and expectation.alternatives:
        place = alternative if alternative is not None and alternative < len(expectation.alternatives) else 0
        expectation, alternative = expectation.alternatives[place], None
    return expectation


Strings: TypeAlias = Literal["exact", "relaxed", "bfcl"]
Profile: TypeAlias = Literal["strict", "bfcl", "original"]
"""The rules that judge: ours, those of the official BFCL checker, or those of the suite that the case is of."""
Language: TypeAlias = Literal["python", "java", "javascript"]


@dataclass(frozen=True, slots=True)
class MatchRule:
    """A rule for the parameters that match `path`, a glob such as `*.city` or `book.seat`.

    `operator` is applied to the plain value that the case expects there; `strings` is the comparison of strings there.
    An operator in the case itself has priority.
    """

    path: str
    operator: Operator | None = None
    strings: Strings | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings of matching, beside the expectation and the tools."""

    profile: Profile = "strict"
    strings: Strings = "exact"
    match: tuple[MatchRule, ...] = ()
    never: tuple[CallPattern, ...] = ()
    now: datetime | None = None
    """The clock of the case, for `$date` and `$datetime`."""
    language: Language = "python"
    """For the `bfcl` profile, the language of the arguments. Those in Java and JavaScript are source text."""
