"""Calls that a case asks for, and calls beside the mark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from hypothesis import strategies as st

from tests.conformance.generated.chances import chance, one_made, one_of
from tests.conformance.generated.values import any_value, disturbed
from tests.conformance.official.suite import OfficialCase

Call: TypeAlias = tuple[str, dict[str, Any]]


def made_calls(draw: st.DrawFn, case: OfficialCase) -> list[Call]:
    """The calls of the truth, some alternative of each value; then up to three changes."""
    calls = [_right(draw, expected) for expected in case.truth] or [_imagined(draw, case)]
    for _ in range(one_of(draw, (1, 0, 0, 1, 1, 2, 3))):
        calls = _changed(draw, calls, case)
    return calls


def _right(draw: st.DrawFn, expected: Mapping[str, Mapping[str, Any]]) -> Call:
    ((name, parameters),) = expected.items()
    return name, _chosen_of(draw, parameters)


def _chosen_of(draw: st.DrawFn, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _chosen(draw, alternatives)
        for name, alternatives in parameters.items()
        if not (isinstance(alternatives, list) and "" in alternatives and chance(draw, 50))
    }


def _chosen(draw: st.DrawFn, alternatives: Any) -> Any:
    if not isinstance(alternatives, list) or not alternatives:
        return alternatives
    value = one_of(draw, alternatives)
    if isinstance(value, dict):
        return _chosen_of(draw, value)
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return [_chosen_of(draw, item) for item in value]
    return value


def _imagined(draw: st.DrawFn, case: OfficialCase) -> Call:
    """A call of some offered function, for cases that want none."""
    if not case.functions:
        return "nothing.offered", {"a": any_value(draw)}
    function = one_of(draw, case.functions)
    return function["name"], {name: any_value(draw) for name in function["parameters"].get("required", ())}


def _changed(draw: st.DrawFn, calls: list[Call], case: OfficialCase) -> list[Call]:
    at = draw(st.integers(0, max(0, len(calls) - 1)))
    if not calls:
        return [_imagined(draw, case)]
    before, call, after = calls[:at], calls[at], calls[at + 1 :]
    changes: list[Callable[[], list[Call]]] = [
        *[lambda: [*before, _with_other_arguments(draw, call, case.functions), *after]] * 8,
        lambda: [*before, (_misnamed(draw, call[0], case.functions), call[1]), *after],
        lambda: [*before, *after],
        lambda: [*calls, call],
        lambda: [*calls, _imagined(draw, case)],
        lambda: draw(st.permutations(calls)),
    ]
    return one_made(draw, changes)


def _misnamed(draw: st.DrawFn, name: str, functions: Sequence[Mapping[str, Any]]) -> str:
    changes: tuple[Callable[[], str], ...] = (
        lambda: name.replace(".", "_"),
        lambda: name.replace("_", "."),
        name.upper,
        lambda: f"functions.{name}",
        lambda: name.rpartition(".")[2],
        lambda: str(one_of(draw, functions)["name"]) if functions else name,
    )
    return one_made(draw, changes)


def _with_other_arguments(draw: st.DrawFn, call: Call, functions: Sequence[Mapping[str, Any]]) -> Call:
    name, arguments = call
    known = next((each for each in functions if each["name"] == name), None)
    declared = list(known["parameters"].get("properties", ())) if known else []
    if not arguments:
        return name, {one_of(draw, declared) if declared else "invented": any_value(draw)}
    key = one_of(draw, list(arguments))
    others = {each: value for each, value in arguments.items() if each != key}
    changes: list[Callable[[], dict[str, Any]]] = [
        *[lambda: {**arguments, key: disturbed(draw, arguments[key])}] * 8,
        lambda: others,
        lambda: {**others, key: arguments[key]},
        lambda: {**arguments, one_of(draw, ("invented", "", "class", "ключ")): any_value(draw)},
        lambda: {**arguments, one_of(draw, declared or ["invented"]): any_value(draw)},
        lambda: {**others, key.upper(): arguments[key]},
        lambda: {each: value for each, value in arguments.items() if chance(draw, 50)},
    ]
    return name, one_made(draw, changes)
