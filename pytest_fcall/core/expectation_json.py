"""The expectations of a case as JSON, and back: operators are mappings as in a case file, such as `{"$any": […]}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_fcall.core.json_data import DamagedData, as_mapping, optional_field, required_field
from pytest_fcall.core.operators import Operator

if TYPE_CHECKING:
    from pytest_fcall.core.expectation import Expectation, ExpectedCall
    from pytest_fcall.core.operators import Pattern
    from pytest_fcall.core.values import Json


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
    from pytest_fcall.core.expectation import Expectation

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
    from pytest_fcall.core.expectation import ExpectedCall

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
