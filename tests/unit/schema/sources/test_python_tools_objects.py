"""Functions and classes become tools."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import functools
import pathlib
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, Required, TypedDict, TypeVar, Union

import pydantic
import pydantic.dataclasses
import pytest
import typing_extensions
from annotated_types import Ge

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.python_tools import tool_from_object
from pytest_fcall.schema.tool_schema import tool_schema

TEXT: dict[str, Json] = {"type": "string"}
INTEGER: dict[str, Json] = {"type": "integer"}


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"
    NONE = None


class Unsayable(enum.Enum):
    POINT = (1, 2)


class Address(TypedDict, total=False):
    """Where someone lives.

    Attributes:
        zip: The postal code.
    """

    zip: Required[str]
    street: str


class Person(Address):
    name: str
    age: NotRequired[int]


class Extended(typing_extensions.TypedDict):
    a: typing_extensions.ReadOnly[int]


@dataclasses.dataclass
class Node:
    name: str
    kids: list[Node] = dataclasses.field(default_factory=list)
    weight: float = 1.5
    hidden: int = dataclasses.field(default=0, init=False)


class Item(pydantic.BaseModel):
    """Something to sell."""

    sku: str = pydantic.Field(description="Its code.", pattern="^A")
    count: int = 1


class Tree(pydantic.BaseModel):
    """A tree."""

    kids: list[Tree] = []


@pydantic.dataclasses.dataclass
class Point:
    x: int = pydantic.Field(ge=0, description="To the right.")


class Desk:
    """A desk."""

    def book(self, seat: int) -> None:
        """Book a seat."""

    @classmethod
    def opened(cls, day: str) -> None:
        """Open."""

    @staticmethod
    def closed(day: str) -> None:
        """Close."""

    def __call__(self, day: str) -> None:
        """Ask for a day."""


class Database:
    pass


UserId = NewType("UserId", int)
Size = typing_extensions.TypeAliasType("Size", int)
T = TypeVar("T")
SATURDAY = dt.date(2026, 11, 21)


class Unsigned:
    __signature__ = "none"

    def __call__(self) -> None:
        pass


def of(hint: object) -> Json:
    """The schema of a parameter with this type hint."""

    def function(x: Any) -> None:
        pass

    function.__annotations__["x"] = hint
    parameters = tool_from_object(function).parameters
    tool_schema(Tool("f", "", parameters))
    match parameters["properties"]:
        case {"x": schema}:
            return schema
    raise AssertionError(parameters)


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, TEXT),
        (int, INTEGER),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (object, {}),
        ("str", TEXT),
        ("list[int]", {"type": "array", "items": INTEGER}),
        (UserId, INTEGER),
        (decimal.Decimal, {"type": "number"}),
        (dt.date, {"type": "string", "format": "date"}),
        (dt.datetime, {"type": "string", "format": "date-time"}),
        (dt.time, {"type": "string", "format": "time"}),
        (dt.timedelta, {"type": "string", "format": "duration"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (pathlib.Path, {"type": "string", "format": "path"}),
        (list, {"type": "array"}),
        (list[str], {"type": "array", "items": TEXT}),
        (Sequence[str], {"type": "array", "items": TEXT}),
        (Iterable[int], {"type": "array", "items": INTEGER}),
        (set[int], {"type": "array", "items": INTEGER, "uniqueItems": True}),
        (frozenset, {"type": "array", "uniqueItems": True}),
        (tuple, {"type": "array"}),
        (tuple[int, ...], {"type": "array", "items": INTEGER}),
        (tuple[int, str], {"type": "array", "prefixItems": [INTEGER, TEXT], "minItems": 2, "maxItems": 2}),
        (dict, {"type": "object", "additionalProperties": True}),
        (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
        (Mapping[str, Any], {"type": "object", "additionalProperties": True}),
        (
            dict[Literal["a", "b"], int],
            {
                "type": "object",
                "additionalProperties": INTEGER,
                "propertyNames": {"enum": ["a", "b"], "type": "string"},
            },
        ),
        (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
        (Literal[1, "a"], {"enum": [1, "a"], "type": ["integer", "string"]}),
        (Size, {"$ref": "#/$defs/Size"}),
        (Literal[Colour.RED], {"enum": ["red"], "type": "string"}),
        (Colour, {"enum": ["red", "blue"], "type": "string"}),
        (Level, {"enum": [1, 2], "type": "integer"}),
        (Mixed, {"enum": [1, "two", None], "type": ["integer", "string", "null"]}),
        (Optional[str], {"anyOf": [TEXT, {"type": "null"}]}),  # noqa: UP045  # the old spelling is still in use
        (str | None, {"anyOf": [TEXT, {"type": "null"}]}),
        (Union[int, str], {"anyOf": [INTEGER, TEXT]}),  # noqa: UP007  # the old spelling is still in use
        (Annotated[int, "How many."], {"type": "integer", "description": "How many."}),
        (Annotated[int, typing_extensions.Doc("How many.")], {"type": "integer", "description": "How many."}),
        (Annotated[int, ...], INTEGER),
        (
            Annotated[int, pydantic.Field(ge=1, description="How many.")],
            {"type": "integer", "minimum": 1, "description": "How many."},
        ),
        (Annotated[int, Ge(1)], {"type": "integer", "minimum": 1}),
        (pydantic.SecretStr, {"type": "string", "format": "password", "writeOnly": True}),
        (list[Literal["a"]], {"type": "array", "items": {"enum": ["a"], "type": "string"}}),
    ],
    ids=str,
)
def test_type_hints_become_schemas(hint: object, schema: Json) -> None:
    assert of(hint) == schema


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (Database, "the type Database"),
        (bytes, "type bytes"),
        (Callable[[int], str], "Callable"),
        (T, "~T"),
        (type[int], "type[int]"),
        (list[Database], "type Database"),
        (Database | None, "type Database"),
        (dict[int, str], "keys of a JSON object must be strings"),
        (Unsayable, "(1, 2)"),
        (Literal[b"x"], "b'x'"),
        ("Missing", "name 'Missing' is not defined"),
        ("int |", "cannot be resolved"),
    ],
    ids=str,
)
def test_a_hint_that_no_model_can_fill_names_the_parameter(hint: object, words: str) -> None:
    with pytest.raises(SchemaError) as caught:
        of(hint)
    assert "`x`" in caught.value.message
    assert words in caught.value.message
    assert "`function`" in caught.value.message
    assert caught.value.path == ()


def search(
    city: str,
    colour: Colour = Colour.RED,
    *words: str,
    limit: Annotated[int, "How many."] = 10,
    near: tuple[float, float] | None = None,
    address: Address | None = None,
    day: dt.date = SATURDAY,
    level: int = pydantic.Field(3, ge=1, description="How high."),
    needed: int = pydantic.Field(description="Needed."),
) -> Database:
    """Search the shop.

    Args:
        city: The city.
        limit: Words of the docstring go after those of the hint.
        nobody: No such parameter.
    """
    raise NotImplementedError


def test_a_function_is_read_as_a_whole() -> None:
    tool = tool_from_object(search)
    assert tool.name == "search"
    assert tool.description == "Search the shop."
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city."},
            "colour": {"enum": ["red", "blue"], "type": "string", "default": "red"},
            "limit": {"type": "integer", "description": "How many.", "default": 10},
            "near": {
                "anyOf": [
                    {
                        "type": "array",
                        "prefixItems": [{"type": "number"}, {"type": "number"}],
                        "minItems": 2,
                        "maxItems": 2,
                    },
                    {"type": "null"},
                ],
                "default": None,
            },
            "address": {"anyOf": [{"$ref": "#/$defs/Address"}, {"type": "null"}], "default": None},
            "day": {"type": "string", "format": "date"},
            "level": {"type": "integer", "minimum": 1, "description": "How high.", "default": 3},
            "needed": {"type": "integer", "description": "Needed."},
        },
        "required": ["city", "needed"],
        "$defs": {
            "Address": {
                "description": "Where someone lives.",
                "type": "object",
                "properties": {"zip": {"type": "string", "description": "The postal code."}, "street": TEXT},
                "required": ["zip"],
            }
        },
    }


def test_parameters_keep_their_order() -> None:
    properties = tool_from_object(search).parameters["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == ["city", "colour", "limit", "near", "address", "day", "level", "needed"]


def test_keyword_arguments_without_a_name_open_the_tool() -> None:
    def any_words(**words: Any) -> None: ...
    def numbers(**words: int) -> None: ...
    def bare(**words) -> None: ...  # type: ignore[no-untyped-def]  # that is what is tested

    assert tool_from_object(any_words).parameters["additionalProperties"] is True
    assert tool_from_object(numbers).parameters["additionalProperties"] == INTEGER
    assert tool_from_object(bare).parameters["additionalProperties"] is True


def test_parameters_without_hints_may_be_anything() -> None:
    def loose(a, b=3):  # type: ignore[no-untyped-def]  # that is what is tested
        """Be loose."""

    assert tool_from_object(loose) == Tool(
        "loose",
        "Be loose.",
        {"type": "object", "properties": {"a": {}, "b": {"default": 3}}, "required": ["a"]},
        f"{__name__}:loose",
    )


@pytest.mark.parametrize(
    ("function", "name", "description", "parameter"),
    [
        (Desk().book, "book", "Book a seat.", "seat"),
        (Desk.book, "book", "Book a seat.", "seat"),
        (Desk.opened, "opened", "Open.", "day"),
        (Desk.closed, "closed", "Close.", "day"),
        (Desk(), "Desk", "Ask for a day.", "day"),
    ],
)
def test_methods_and_callable_objects_are_tools(function: object, name: str, description: str, parameter: str) -> None:
    tool = tool_from_object(function)
    assert (tool.name, tool.description) == (name, description)
    assert tool.parameters["required"] == [parameter]


def test_a_partial_function_keeps_what_is_bound_as_a_default() -> None:
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    tool = tool_from_object(functools.partial(add, b=2))
    assert (tool.name, tool.description) == ("add", "Add.")
    assert tool.parameters["properties"] == {"a": INTEGER, "b": {"type": "integer", "default": 2}}


def test_a_decorated_function_is_the_function() -> None:
    @functools.wraps(search)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return search(*args, **kwargs)

    assert tool_from_object(wrapper) == tool_from_object(search)


def test_an_asynchronous_function_is_a_tool() -> None:
    async def wait(seconds: float) -> None:
        """Wait."""

    assert tool_from_object(wait).parameters["properties"] == {"seconds": {"type": "number"}}


def test_a_typed_dict_is_a_tool() -> None:
    tool = tool_from_object(Person)
    assert tool.name == "Person"
    assert tool.parameters["required"] == ["zip", "name"]
    assert tool.parameters["properties"] == {"zip": TEXT, "street": TEXT, "name": TEXT, "age": INTEGER}
    assert tool_from_object(Address).description == "Where someone lives."
    assert tool_from_object(Extended).parameters["properties"] == {"a": INTEGER}


def test_a_dataclass_is_a_tool_and_may_hold_itself() -> None:
    tool = tool_from_object(Node)
    assert (tool.name, tool.description) == ("Node", "")
    assert tool.parameters["properties"] == {
        "name": TEXT,
        "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        "weight": {"type": "number", "default": 1.5},
    }
    assert tool.parameters["required"] == ["name"]
    assert tool_schema(tool).check({"name": "a", "kids": [{"name": "b", "kids": [{"name": 3}]}]})


def test_a_pydantic_model_is_a_tool() -> None:
    tool = tool_from_object(Item)
    assert (tool.name, tool.description) == ("Item", "Something to sell.")
    assert tool.parameters["required"] == ["sku"]
    assert [finding.path for finding in tool_schema(tool).check({"sku": "B", "count": "1"})] == [("sku",), ("count",)]


def test_a_pydantic_model_may_hold_itself() -> None:
    tool = tool_from_object(Tree)
    assert (tool.name, tool.description) == ("Tree", "A tree.")
    assert tool_schema(tool).check({"kids": [{"kids": []}]}) == []
    assert tool_schema(tool).check({"kids": [{"kids": [1]}]})
    assert set(tool_schema(tool).parameters) == {"kids"}


def test_a_pydantic_dataclass_keeps_its_rules() -> None:
    tool = tool_from_object(Point)
    assert tool.parameters["properties"] == {
        "x": {"type": "integer", "minimum": 0, "description": "To the right.", "title": "X"}
    }


def test_pydantic_models_are_parameters() -> None:
    def sell(item: Item, more: list[Item], tree: Tree | None = None) -> None: ...

    tool = tool_schema(tool_from_object(sell))
    assert tool.check({"item": {"sku": "A1"}, "more": [{"sku": "A2", "count": 3}], "tree": {"kids": []}}) == []
    findings = tool.check({"item": {"sku": "B"}, "more": [{"sku": "A2", "cuont": 3}], "tree": {"kids": [3]}})
    assert sorted(finding.message for finding in findings) == [
        "`item.sku` must match the pattern '^A', unlike 'B'",
        "`more[0].cuont` is not a property of `more[0]`; did you mean `count`?",
        "`tree.kids[0]` must be an object, not the integer 3",
    ]


def test_a_model_whose_schema_raises_an_error_without_text_names_the_error() -> None:
    class Odd(pydantic.BaseModel):
        @classmethod
        def __get_pydantic_json_schema__(cls, *_: object) -> Any:
            raise NotImplementedError

    with pytest.raises(SchemaError, match="Pydantic has no JSON Schema for `Odd`: NotImplementedError"):
        tool_from_object(Odd)


def test_models_without_a_json_schema_are_told() -> None:
    class Odd(pydantic.BaseModel):
        call: Callable[[int], int]

    def use(odd: Odd) -> None: ...

    use.__annotations__["odd"] = Odd
    with pytest.raises(SchemaError, match="Pydantic has no JSON Schema for `Odd`"):
        tool_from_object(Odd)
    with pytest.raises(SchemaError, match="`odd` of `use`: Pydantic has no JSON Schema"):
        tool_from_object(use)


def test_two_classes_of_one_name_are_kept_apart() -> None:
    def make() -> type:
        @dataclasses.dataclass
        class Node:
            other: int

        return Node

    def both(a: Any, b: Any) -> None: ...

    both.__annotations__.update(a=Node, b=make())
    tool = tool_schema(tool_from_object(both))
    assert tool.check({"a": {"name": "x"}, "b": {"other": 1}}) == []
    assert {finding.path[0] for finding in tool.check({"a": {"other": 1}, "b": {"other": 1}})} == {"a"}


def test_a_mapping_is_read_as_data_and_a_tool_is_passed_on() -> None:
    tool = tool_from_object({"name": "a", "input_schema": {}})
    assert tool.name == "a"
    assert tool_from_object(tool) is tool


@pytest.mark.parametrize(
    ("obj", "words"),
    [
        (3, "not the integer 3"),
        (None, "not null"),
        ("shop:search", "not the string 'shop:search'"),
        (Database, "the class `Database` is not a tool"),
        (Colour, "the class `Colour` is not a tool"),
        (lambda x: x, "<lambda> is not a valid name of a tool"),
        (type, "the class `type` is not a tool"),
        (Unsigned(), "`Unsigned`: its signature cannot be read"),
    ],
)
def test_what_is_no_tool_is_told(obj: object, words: str) -> None:
    with pytest.raises(SchemaError) as caught:
        tool_from_object(obj)
    assert words in caught.value.message
