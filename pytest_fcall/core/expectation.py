"""Expected calls, the rules by which values are compared, and both as JSON.

In JSON, operators are mappings as in a case file, such as `{"$any": […]}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pytest_fcall.core.json_data import DamagedData, as_mapping, optional_field, required_field
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


class Rules(NamedTuple):
    """The settings of matching, beside the expectation and the tools."""

    profile: Profile = "strict"
    strings: Strings = "exact"
    match: tuple[MatchRule, ...] = ()
    never: tuple[CallPattern, ...] = ()
    now: datetime | None = None
    """The clock of the case, for `$date` and `$datetime`."""
    language: Language = "python"
    """For the `bfcl` profile, the language of the arguments. Those in Java and JavaScript are source text."""


def json_of_object(value: object) -> Any:
    """A value for an object that JSON does not know: the `default` of an encoder, which asks for nothing else."""
    if isinstance(value, Operator):
        return {f"${value.name}": value.operand, **value.options}
    return dict(value) if isinstance(value, Mapping) else str(value)


def pattern_from_json(value: Json) -> Pattern:
    """Read an expected value. In a `$literal`, `$` has no meaning."""
    if isinstance(value, Mapping):
        first = next(iter(value), "")
        if first == "$literal":
            return Operator("literal", value[first])
        inner = {key: pattern_from_json(item) for key, item in value.items()}
        return Operator(first[1:], inner.pop(first), inner) if first.startswith("$") else inner
    return [pattern_from_json(item) for item in value] if isinstance(value, list) else value


def expectation_to_json(expectation: Expectation) -> dict[str, Any]:
    """The calls that are expected, as far as people are shown them. `json_of_object` writes the operators in it."""
    if expectation.kind == "any_of":
        return {"kind": "any_of", "alternatives": [expectation_to_json(each) for each in expectation.alternatives]}
    if expectation.kind != "calls":
        return {"kind": expectation.kind}
    stages = [[_call_to_json(call) for call in stage] for stage in expectation.stages]
    data: dict[str, Any] = {"stages": stages}
    if expectation.extra != "forbid":
        data["extra"] = expectation.extra
    return data


def _call_to_json(call: ExpectedCall) -> dict[str, Any]:
    data: dict[str, Any] = {"tool": call.tool, "arguments": call.arguments}
    if call.open:
        data["open"] = True
    if call.times != (1, 1):
        data["times"] = call.times
    if call.result is not None:
        data["result"] = call.result
    return data


def expectation_from_json(data: Mapping[str, Json]) -> Expectation:
    """Read what `expectation_to_json` wrote. Raises DamagedData for other data."""
    kind = optional_field(data, "kind", str) or "calls"
    if kind == "any_of":
        alternatives = required_field(data, "alternatives", list)
        return Expectation(
            "any_of", alternatives=tuple(expectation_from_json(as_mapping(each, "it")) for each in alternatives)
        )
    if kind == "no_call":
        return Expectation("no_call")
    if kind == "any_call":
        return Expectation("any_call")
    if kind != "calls":
        raise DamagedData("`kind` is none of an expectation")
    stages = tuple(map(_stage_from_json, required_field(data, "stages", list)))
    return Expectation(stages=stages, extra="allow" if data.get("extra") == "allow" else "forbid")


def _stage_from_json(value: Json) -> tuple[ExpectedCall, ...]:
    if not isinstance(value, list):
        raise DamagedData("a stage is no list of calls")
    return tuple(_call_from_json(as_mapping(call, "an expected call")) for call in value)


def _call_from_json(data: Mapping[str, Json]) -> ExpectedCall:
    arguments = optional_field(data, "arguments", dict)
    return ExpectedCall(
        required_field(data, "tool", str),
        None if arguments is None else {name: pattern_from_json(value) for name, value in arguments.items()},
        open=optional_field(data, "open", bool) or False,
        times=_times(optional_field(data, "times", list)),
        result=pattern_from_json(data.get("result")),
    )


def _times(value: Sequence[Json] | None) -> tuple[int, int | None]:
    match value:
        case None:
            return 1, 1
        case [int(least), int(most)]:
            return least, most
        case [int(least), None]:
            return least, None
    raise DamagedData("`times` must be two numbers")
