"""Wrong arguments of one call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from pytest_fcall.core.values import Json, path_text
from pytest_fcall.matching.place import ValuePath
from pytest_fcall.schema.tool_schema import ToolSchema
from pytest_fcall.strength.mistakes.values import brief, wrong_values
from pytest_fcall.strength.samples import declared_schema, fitting_sample

_DEEPEST: Final = 5
_MOST_ITEMS: Final = 6
_MOST_ADDED: Final = 8
_MOST_PAIRS: Final = 6
_INVENTED: Final = "details"
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])([A-Z])")
_SNAKE: Final = re.compile(r"_([a-z0-9])")


class WrongArguments(NamedTuple):
    """Wrong arguments: the kind of mistake, the place in them, and what is wrong there."""

    mistake: str
    place: str
    detail: str
    arguments: Mapping[str, Json]


def wrong_arguments(
    arguments: Mapping[str, Json], schema: ToolSchema | None, words: Sequence[str]
) -> Iterator[WrongArguments]:
    """Everything that may be wrong with the arguments of a call."""
    yield from _inside(arguments, (), arguments, schema, words)
    yield from _added(arguments, schema)
    yield from _renamed(arguments, schema)
    yield from _swapped(arguments)
    yield from _flattened(arguments)


def _inside(
    whole: Mapping[str, Json], path: ValuePath, value: Json, schema: ToolSchema | None, words: Sequence[str]
) -> Iterator[WrongArguments]:
    """Wrong values at every place, from the top down."""
    if len(path) > _DEEPEST:
        return
    if path:
        for mistake, other in wrong_values(value, declared_schema(schema, path), words):
            yield _wrong(mistake, path, f"{brief(value)} → {brief(other)}", with_value(whole, path, other))
    if isinstance(value, Mapping):
        for key, item in value.items():
            inner = (*path, key)
            yield _wrong("argument dropped", inner, "left out", without_value(whole, inner))
            yield from _inside(whole, inner, item, schema, words)
    elif isinstance(value, list):
        for index, item in enumerate(value[:_MOST_ITEMS]):
            yield from _inside(whole, (*path, index), item, schema, words)


def _wrong(mistake: str, path: ValuePath, detail: str, arguments: Mapping[str, Json]) -> WrongArguments:
    return WrongArguments(mistake, path_text(path), detail, arguments)


def _added(arguments: Mapping[str, Json], schema: ToolSchema | None) -> Iterator[WrongArguments]:
    missing = [name for name in schema.parameters if name not in arguments] if schema else []
    for name in missing[:_MOST_ADDED]:
        declared = schema.parameters[name] if schema else {}
        for value in fitting_sample(schema, (name,), declared) if schema else ():
            if value != declared.get("default"):
                yield _wrong("argument added", (name,), f"given as {brief(value)}", {**arguments, name: value})
                break
    invented = _INVENTED if _INVENTED not in arguments else f"more_{_INVENTED}"
    if schema is None or invented not in schema.parameters:
        detail = f"given as {brief('something')}"
        yield _wrong("argument invented", (invented,), detail, {**arguments, invented: "something"})


def _renamed(arguments: Mapping[str, Json], schema: ToolSchema | None) -> Iterator[WrongArguments]:
    """Under a name in another style, and under that of another argument of the tool."""
    for name in arguments:
        for other in _other_names(name, schema):
            if other not in arguments:
                renamed = {other if key == name else key: value for key, value in arguments.items()}
                yield _wrong("argument renamed", (name,), f"given as {other}", renamed)


def _other_names(name: str, schema: ToolSchema | None) -> Iterator[str]:
    camel = _SNAKE.sub(lambda found: found[1].upper(), name)
    yield camel if camel != name else _CAMEL.sub(r"_\1", name).lower() if _CAMEL.search(name) else f"{name}_name"
    if schema is not None:
        kind = schema.parameters.get(name, {}).get("type")
        alike = (each for each, declared in schema.parameters.items() if each != name and declared.get("type") == kind)
        yield from list(alike)[:2]


def _swapped(arguments: Mapping[str, Json]) -> Iterator[WrongArguments]:
    pairs = [
        (one, other)
        for one, other in combinations(arguments, 2)
        if type(arguments[one]) is type(arguments[other]) and arguments[one] != arguments[other]
    ]
    for one, other in pairs[:_MOST_PAIRS]:
        swapped = {**arguments, one: arguments[other], other: arguments[one]}
        yield _wrong("arguments swapped", (one,), f"has the value of {other}", swapped)


def _flattened(arguments: Mapping[str, Json]) -> Iterator[WrongArguments]:
    """The keys of an object as arguments of their own, and all arguments in one more object."""
    for name, value in arguments.items():
        if isinstance(value, Mapping) and value:
            rest = {key: item for key, item in arguments.items() if key != name}
            yield _wrong("nesting changed", (name,), "its keys are arguments", {**rest, **value})
    if arguments:
        yield _wrong("nesting changed", (), "all arguments inside one", {"arguments": dict(arguments)})


def with_value(whole: Json, path: ValuePath, value: Json) -> dict[str, Json]:
    """A copy with another value at a path."""
    return _changed(whole, path, lambda _: value)  # type: ignore[return-value]  # arguments are an object


def without_value(whole: Json, path: ValuePath) -> dict[str, Json]:
    """A copy without the key at the end of a path."""
    *above, last = path

    def drop(inner: Json) -> Json:
        return {key: item for key, item in inner.items() if key != last} if isinstance(inner, Mapping) else inner

    return _changed(whole, tuple(above), drop)  # type: ignore[return-value]  # arguments are an object


def _changed(whole: Json, path: ValuePath, change: Callable[[Json], Json]) -> Json:
    if not path:
        return change(whole)
    first, *rest = path
    if isinstance(whole, Mapping):
        return {key: _changed(item, tuple(rest), change) if key == first else item for key, item in whole.items()}
    if isinstance(whole, list):
        return [_changed(item, tuple(rest), change) if index == first else item for index, item in enumerate(whole)]
    return whole
