"""Cases: those of the suite, such a one with a change, and made-up ones with types that are rare there."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from hypothesis import strategies as st

from tests.conformance.generated.chances import chance, one_made, one_of
from tests.conformance.generated.values import any_value
from tests.conformance.official.suite import OfficialCase, Suite

Language: TypeAlias = Literal["python", "java", "javascript"]

TYPES: dict[Language, tuple[str, ...]] = {
    "python": ("string", "integer", "float", "boolean", "array", "tuple", "dict", "any") * 3
    + ("number", "object", "null"),
    "java": ("byte", "short", "integer", "float", "double", "long", "boolean", "char", "String", "any") * 2
    + ("Array", "ArrayList", "HashMap") * 4
    + ("Set", "Hashtable", "Queue", "Stack", "string", "dict"),
    "javascript": ("String", "integer", "float", "Bigint", "Boolean", "any") * 2 + ("dict", "array") * 4 + ("string",),
}
LISTS = frozenset({"array", "tuple", "Array", "ArrayList", "Set", "Queue", "Stack"})
MAPS = frozenset({"dict", "object", "HashMap", "Hashtable"})


def asked(draw: st.DrawFn, suite: Suite, language: Language) -> OfficialCase:
    """A case to answer."""
    if chance(draw, 35):
        return _invented(draw, language)
    case = one_of(draw, suite)
    return _changed(draw, case) if chance(draw, 15) else case


def _invented(draw: st.DrawFn, language: Language) -> OfficialCase:
    names = ("find", "geo.find", "geo.area.find", "geo_find")[: draw(st.integers(1, 4))]
    functions = [_function(draw, name, language) for name in names]
    if language != "python":
        return OfficialCase("invented", f"simple_{language}", functions[:1], [_truth(draw, functions[0], language)])
    category = one_of(draw, ("simple_python", "multiple", "parallel", "live_parallel_multiple", "rest", "live_simple"))
    called = (
        [one_of(draw, functions) for _ in range(draw(st.integers(1, 3)))] if "parallel" in category else functions[:1]
    )
    return OfficialCase("invented", category, functions, [_truth(draw, each, language) for each in called])


def _function(draw: st.DrawFn, name: str, language: Language) -> dict[str, Any]:
    parameters = ("a", "b_c", "type")[: draw(st.integers(1, 3))]
    return {
        "name": name,
        "description": "",
        "parameters": {
            "type": "dict",
            "properties": {each: _declaration(draw, language) for each in parameters},
            "required": [each for each in parameters if chance(draw, 50)],
        },
    }


def _declaration(draw: st.DrawFn, language: Language) -> dict[str, Any]:
    kind = one_of(draw, TYPES[language])
    if kind in LISTS and not chance(draw, 5):
        return {"type": kind, "items": {"type": one_of(draw, TYPES[language])}}
    return {"type": kind}


def _truth(draw: st.DrawFn, function: dict[str, Any], language: Language) -> dict[str, Any]:
    properties: dict[str, Any] = function["parameters"]["properties"]
    return {function["name"]: {name: _alternatives(draw, each, language) for name, each in properties.items()}}


def _alternatives(draw: st.DrawFn, declared: dict[str, Any], language: Language) -> list[Any]:
    made = [_fitting(draw, declared, language) for _ in range(draw(st.integers(1, 3)))]
    if chance(draw, 30):
        made.insert(draw(st.integers(0, len(made))), "")
    if chance(draw, 12):
        made.insert(draw(st.integers(0, len(made))), _plain_value(draw))
    return [] if chance(draw, 1) else made


def _fitting(draw: st.DrawFn, declared: dict[str, Any], language: Language) -> Any:
    kind = str(declared.get("type"))
    if kind in LISTS:
        items = declared.get("items", {"type": "any"})
        return [_fitting(draw, items, language) for _ in range(draw(st.integers(0, 3)))]
    if kind in MAPS:
        inner: dict[str, Any] = {"type": one_of(draw, TYPES[language][:4])}
        values = {key: [_fitting(draw, inner, language)] for key in ("x", "y z")[: draw(st.integers(0, 2))]}
        return {key: [*each, ""] if chance(draw, 30) else each for key, each in values.items()}
    if kind in {"integer", "byte", "short", "long", "Bigint"}:
        return one_of(draw, (5, 0, -3, 1, 10**12))
    if kind in {"float", "double", "number"}:
        return one_of(draw, (2.5, 1.0, -0.5, 3, 1e-5))
    if kind in {"boolean", "Boolean"}:
        return draw(st.booleans())
    return one_of(draw, ("a", "New York, NY", "it's", "b-c", "5", "true", "Straße", "é", "x.y", "{z}", None))


def _plain_value(draw: st.DrawFn) -> Any:
    value = any_value(draw, 1)
    return list(value) if isinstance(value, tuple) else value


def _changed(draw: st.DrawFn, case: OfficialCase) -> OfficialCase:
    """The case with its schema or truth out of order, as in nobody's file but in the reach of anybody's pen."""
    functions, truth = deepcopy(list(case.functions)), deepcopy(list(case.truth))
    if not truth:
        return replace(case, category=one_of(draw, ("irrelevance", "live_irrelevance", "live_relevance")))
    function: dict[str, Any] = dict(one_of(draw, functions))
    functions[functions.index(function)] = function
    parameters = function["parameters"]
    properties = parameters.get("properties", {})
    arguments: dict[str, Any] = next(iter(one_of(draw, truth).values()))
    name = one_of(draw, [*properties, "nowhere"])
    key = one_of(draw, [*arguments, "nowhere"])
    changes: tuple[Callable[[], object], ...] = (
        lambda: properties.pop(name, None),
        lambda: properties.get(name, {}).pop("items", None),
        lambda: properties.get(name, {}).update(type=one_of(draw, TYPES["python"] + TYPES["java"])),
        lambda: properties.get(name, {}).update(items={"type": one_of(draw, TYPES["python"])}),
        lambda: properties.get(name, {}).pop("type", None),
        lambda: parameters.update(required=[*parameters.get("required", ()), name]),
        lambda: parameters.pop("required", None),
        lambda: parameters.pop("properties", None),
        lambda: function.update(name=f"{function['name']}.other"),
        lambda: arguments.pop(key, None),
        lambda: arguments.update({key: [*arguments.get(key, ()), ""]}),
        lambda: arguments.update({key: ["", *arguments.get(key, ())]}),
        lambda: arguments.update({key: [""]}),
        lambda: arguments.update({key: [None, *arguments.get(key, ())]}),
        lambda: arguments.update({key: [*arguments.get(key, ()), _plain_value(draw)]}),
        lambda: arguments.update({key: [_plain_value(draw), *arguments.get(key, ())]}),
        lambda: truth.append(one_of(draw, truth)),
        truth.reverse,
        functions.reverse,
    )
    one_made(draw, changes)
    return replace(case, functions=functions, truth=truth)
