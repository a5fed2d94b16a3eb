"""Tools, expectations and calls of every kind and of none, for those who judge."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.fuzz.texts import PIECES

keys = st.sampled_from(("city", "days", "at", "a", "b.c", "", "$any", "$ref", "type", "find", "\ud800", "日"))
_leaves: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from((10**30, 10**4000, -0.0, 1.0, 0.1, 1e308, float("inf"), float("nan"))),
    st.sampled_from(
        ("Oslo", "oslo", "", "3", "2024-05-01", "01/02/2024", "2024-05-01T10:00:00Z", "two", "(a+)+$", "%")
    ),
    st.sampled_from(PIECES),
)


@st.composite
def _leaf(draw: st.DrawFn) -> Any:
    """A function, since Hypothesis spells out any other strategy that it tells of, and those made of it."""
    return draw(_leaves)


leaves = _leaf()
values: st.SearchStrategy[Any] = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=8
)
_TYPES = "string integer number boolean array object null dict float tuple any String long ArrayList Array HashMap"
_types = st.sampled_from(_TYPES.split())
_facets = {
    "enum": st.lists(leaves, min_size=1, max_size=3),
    "const": values,
    "default": values,
    "minimum": st.integers(-2, 2),
    "maxLength": st.integers(0, 3),
    "pattern": st.sampled_from(("^a+$", "(a|aa)+$", "[", "\\p{L}", "(?<=a)b")),
    "format": st.sampled_from(("date", "date-time", "email", "ipv6", "nonsense")),
    "nullable": st.booleans(),
    "additionalProperties": st.booleans(),
    "description": st.just("d"),
}


def _larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"type": _types | st.lists(_types, min_size=1, max_size=2)},
        optional={
            "items": inner | st.lists(inner, max_size=2),
            "prefixItems": st.lists(inner, max_size=2),
            "properties": st.dictionaries(keys, inner, max_size=3),
            "required": st.lists(keys, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "$ref": st.sampled_from(("#", "#/properties/a", "#/$defs/x", "#/$defs/%", "https://a.example/b")),
        },
    )


schemas: st.SearchStrategy[Any] = st.recursive(
    st.fixed_dictionaries({"type": _types}, optional=_facets), _larger, max_leaves=5
)
parameters = st.fixed_dictionaries(
    {"type": st.sampled_from(("object", "dict")), "properties": st.dictionaries(keys, schemas, max_size=3)},
    optional={"required": st.lists(keys, max_size=2), "additionalProperties": st.booleans()},
)

_OPERATORS = (
    "$any $all $not $optional $ignore $regex $contains $text $approx $gt $le $between $date $datetime $type $subset "
    "$unordered $each $json $literal"
)
_operators = st.sampled_from(_OPERATORS.split())
patterns: st.SearchStrategy[Any] = st.recursive(
    values,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(keys, inner, max_size=3)
        | st.dictionaries(_operators, inner | st.lists(inner, min_size=1, max_size=3), min_size=1, max_size=1)
    ),
    max_leaves=6,
)
names = st.sampled_from(("find", "geo.find", "Find", "", "nobody"))
expected = st.one_of(
    st.sampled_from(("no_call", "any_call")),
    st.lists(st.dictionaries(names, st.dictionaries(keys, patterns, max_size=3), min_size=1, max_size=1), max_size=3),
)
calls = st.lists(st.tuples(names, st.dictionaries(keys, values, max_size=3)), max_size=4)
exams = st.fixed_dictionaries({"parameters": parameters, "expect": expected, "calls": calls})
