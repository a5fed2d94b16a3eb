"""Expected calls, and the rules by which values are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json


@dataclass(frozen=True, slots=True)
class CallPattern:
    """Names calls by a glob over tool names and, if `arguments` is given, by patterns on arguments."""

    tool: str
    arguments: Mapping[str, Pattern] | None = None


@dataclass(frozen=True, slots=True)
class CannedResult:
    """What the test answers when an expected call is made."""

    returns: tuple[Json, ...] = ()
    """One result for every call, or with `each` one result a call, in order."""
    each: bool = False
    raises: str | None = None


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """One call that must be made.

    `arguments` is None where any arguments will do. With `open`, optional arguments that are not named are free.
    """

    tool: str
    arguments: Mapping[str, Pattern] | None = field(default_factory=dict)
    open: bool = False
    times: tuple[int, int | None] = (1, 1)
    """Fewest and most calls; no upper bound is None."""
    canned: CannedResult | None = None
    name: str | None = None
    """What `$from` calls it (`as:` in a case file)."""
    result: Pattern = None
    """What the call must give when it is carried out; None where that is free."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A right answer: calls, none, or any.

    `stages` are groups of calls: order is free within a group, and each group comes after all before it. A
    plain list of calls is one stage; every `then:` adds one. With `kind="no_call"` the model must abstain,
    with `"any_call"` it must call something, and with `"any_of"` one of `alternatives` must hold.
    """

    kind: Literal["calls", "no_call", "any_call", "any_of"] = "calls"
    stages: tuple[tuple[ExpectedCall, ...], ...] = ()
    order: Literal["any", "strict"] = "any"
    extra: Literal["forbid", "allow"] = "forbid"
    allow: tuple[CallPattern, ...] = ()
    never: tuple[CallPattern, ...] = ()
    alternatives: tuple[Expectation, ...] = ()
    parallel: Literal["as_given", "free"] = "as_given"
    """With `as_given` the calls of a stage come in one reply, and those of the next in a later one."""

    @property
    def all_calls(self) -> tuple[ExpectedCall, ...]:
        """The calls of all stages, and of all alternatives."""
        own = tuple(call for stage in self.stages for call in stage)
        return own + tuple(call for each in self.alternatives for call in each.all_calls)


def chosen_alternative(expectation: Expectation, alternative: int | None) -> Expectation:
    """The alternative that the verdict speaks of, the first where it names none; else the expectation itself."""
    while expectation.kind == "any_of" and expectation.alternatives:
        place = alternative if alternative is not None and alternative < len(expectation.alternatives) else 0
        expectation, alternative = expectation.alternatives[place], None
    return expectation


Strings: TypeAlias = Literal["exact", "relaxed", "bfcl"]
Profile: TypeAlias = Literal["strict", "bfcl"]
Language: TypeAlias = Literal["python", "java", "javascript"]


@dataclass(frozen=True, slots=True)
class MatchRule:
    """A rule for the parameters that `path` names, a glob such as `*.city` or `book.seat`.

    Either `operator` stands in for a plain value that the case expects there, or `strings` says how strings compare.
    An operator that the case writes itself goes first.
    """

    path: str
    operator: Operator | None = None
    strings: Strings | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything that matching needs to know beside the expectation and the tools."""

    profile: Profile = "strict"
    strings: Strings = "exact"
    match: tuple[MatchRule, ...] = ()
    never: tuple[CallPattern, ...] = ()
    now: datetime | None = None
    """The case's clock, for `$date` and `$datetime`."""
    language: Language = "python"
    """For the `bfcl` profile: whose literals the arguments are. Those of Java and JavaScript are source text."""
