from __future__ import annotations

import json
from collections import OrderedDict, deque, namedtuple
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import PurePosixPath
from uuid import UUID

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.conversation.execution.plain_json import NotPlain, json_text

Point = namedtuple("Point", "x y")  # noqa: PYI024  # untyped code makes these, too
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Model(pydantic.BaseModel):
    name: str


@dataclass
class Folder:
    name: str
    inside: list[Folder] = field(default_factory=list)
    parent: Folder | None = None
    _hidden: int = 0


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError


@given(PLAIN)
def test_plain_values_stay_what_they_are(value: object) -> None:
    assert json.loads(json_text(value, 1_000_000)) == value


@given(PLAIN, st.integers(1, 200))
def test_nothing_is_longer_than_it_may_be(value: object, most: int) -> None:
    size = len(json.dumps(value))
    with nullcontext() if size <= most // 2 else suppress(NotPlain):
        assert len(json_text(value, most)) == size <= most


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ((1, 2), [1, 2]),
        (Point(1, 2), [1, 2]),
        ({"b", "a"}, ["a", "b"]),
        (frozenset({3, 1}), [1, 3]),
        (deque([1]), [1]),
        (range(2), [0, 1]),
        ({1: "a", None: "b", 0.5: "c"}, {"1": "a", "null": "b", "0.5": "c"}),
        ({}.keys(), []),
        (OrderedDict(a=1), {"a": 1}),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (date(2026, 11, 21), "2026-11-21"),
        (datetime(2026, 11, 21, 1, tzinfo=UTC), "2026-11-21T01:00:00+00:00"),
        (Decimal("1.10"), "1.10"),
        (PurePosixPath("a/b"), "a/b"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (float("nan"), None),
        (Model(name="x"), {"name": "x"}),
        (Folder("a"), {"name": "a", "inside": [], "parent": None}),
        (Text("told"), "told"),
        ("\ud800", "\ud800"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_values_are_told_as_plain_ones(value: object, told: object) -> None:
    assert json.loads(json_text(value, 10_000)) == told


def test_tables_are_rows() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"name": ["a", "b"], "price": [1.5, None]})
    rows = [{"name": "a", "price": 1.5}, {"name": "b", "price": None}]
    assert json.loads(json_text(table, 10_000)) == rows
    assert json.loads(json_text(table["price"], 10_000)) == [1.5, None]
    assert json.loads(json_text(table["price"].to_numpy()[0], 10_000)) == 1.5


def test_a_way_back_to_what_holds_a_thing_is_left_out() -> None:
    top = Folder("top")
    top.inside.append(Folder("sub", parent=top))
    told = {"name": "top", "inside": [{"name": "sub", "inside": []}], "parent": None}
    assert json.loads(json_text(top, 10_000)) == told


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b"x", "it contains bytes, whose meaning is not known; decode them"),
        ({(1, 2): 3}, "a key of it is a tuple, not a string"),
        (float("-inf"), "it contains an infinite number"),
        (10**5_000, "it contains an integer with more than 4,000 digits"),
        ({10**5_000: 1}, "it contains an integer with more than 4,000 digits"),
        (object(), "it contains a value of type object"),
        (Folder, "it contains a value of type type"),
        (json, "it contains a value of type module"),
        ("é" * 5_000, "it has more than 10,000 bytes"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_cannot_say_is_told(value: object, why: str) -> None:
    with pytest.raises(NotPlain) as error:
        json_text(value, 10_000)
    assert str(error.value) == why
