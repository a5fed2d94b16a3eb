"""Traversal of schemas: subschemas, local references, and the schema at a path of the arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias
from urllib.parse import unquote

from pytest_fcall.core.values import Json

Path: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead to a value, in a schema or in arguments."""

SCHEMA_KEYWORDS: Final = frozenset(
    {
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords whose value is a schema."""

SCHEMA_LIST_KEYWORDS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""

SCHEMA_MAP_KEYWORDS: Final = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose value is a mapping of names to schemas."""


IN_PLACE_KEYWORDS: Final = ("allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas")
"""Keywords whose schemas describe the same value as their parent."""


def child_schemas(schema: Mapping[str, Json]) -> Iterator[tuple[Path, Json]]:
    """The direct subschemas of `schema`, each with its path."""
    for key, value in schema.items():
        if key in SCHEMA_KEYWORDS:
            yield (key,), value
        elif key in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
            yield from (((key, index), item) for index, item in enumerate(value))
        elif key in SCHEMA_MAP_KEYWORDS and isinstance(value, Mapping):
            yield from (((key, name), item) for name, item in value.items())


def schemas_in(schema: Json, path: Path = ()) -> Iterator[tuple[Path, Mapping[str, Json]]]:
    """A schema and all its subschemas, each with its path."""
    if isinstance(schema, Mapping):
        yield path, schema
        for step, inner in child_schemas(schema):
            yield from schemas_in(inner, (*path, *step))


def rebuild_schema(schema: Mapping[str, Json], change: Callable[[Path, Json], Json]) -> dict[str, Json]:
    """A copy of `schema` with each direct subschema replaced by `change(path, subschema)`."""

    def entry(key: str, value: Json) -> Json:
        if key in SCHEMA_KEYWORDS:
            return change((key,), value)
        if key in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
            return [change((key, index), item) for index, item in enumerate(value)]
        if key in SCHEMA_MAP_KEYWORDS and isinstance(value, Mapping):
            return {name: change((key, name), item) for name, item in value.items()}
        return value

    return {key: entry(key, value) for key, value in schema.items()}


def look_up(root: Json, path: Sequence[str | int]) -> Json:
    """The value at `path` in `root`. Raises LookupError if there is none."""
    here = root
    for step in path:
        if isinstance(here, Mapping) and isinstance(step, str):
            here = here[step]
        elif isinstance(here, list | tuple) and str(step).isdecimal():
            here = here[int(step)]
        else:
            raise LookupError(step)
    return here


def path_exists(root: Json, path: Sequence[str | int]) -> bool:
    """Whether there is a value at `path` in `root`."""
    try:
        look_up(root, path)
    except LookupError:
        return False
    return True


def pointer_path(reference: str) -> Path | None:
    """The path of a local reference (`#`, `#/$defs/Pet`); None for any other reference."""
    if reference == "#":
        return ()
    if not reference.startswith("#/"):
        return None
    return tuple(unquote(step).replace("~1", "/").replace("~0", "~") for step in reference[2:].split("/"))


def pointer(path: Path) -> str:
    """The local reference to a path: the inverse of `pointer_path`."""
    return "/".join(("#", *(str(step).replace("~", "~0").replace("/", "~1") for step in path)))


def parameter_path(path: Path) -> str:
    """The path of a parameter for a message, such as `stops[].city`, whatever the place in the list."""
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def follow_reference(root: Mapping[str, Json], schema: Mapping[str, Json]) -> tuple[Mapping[str, Json], Path] | None:
    """The target of the `$ref` in `schema`, and its path; None without a `$ref`, or if it cannot be resolved."""
    reference = schema.get("$ref")
    path = pointer_path(reference) if isinstance(reference, str) else None
    if path is None:
        return None
    try:
        target = look_up(root, path)
    except LookupError:
        return None
    return (target, path) if isinstance(target, Mapping) else None


def applied_schemas(
    root: Mapping[str, Json], schema: Json, path: Path = (), through: Sequence[str] = IN_PLACE_KEYWORDS
) -> Iterator[tuple[Mapping[str, Json], Path]]:
    """The schema at `path` and all schemas that it applies to the same value, each once, with its path.

    The search follows `$ref` and the keywords in `through`.
    """
    waiting: list[tuple[Json, Path]] = [(schema, path)]
    seen: set[int] = set()
    while waiting:
        here, place = waiting.pop(0)
        if not isinstance(here, Mapping) or id(here) in seen:
            continue
        seen.add(id(here))
        yield here, place
        if target := follow_reference(root, here):
            waiting.append(target)
        for key in through:
            match here.get(key):
                case list() as items:
                    waiting += [(item, (*place, key, index)) for index, item in enumerate(items)]
                case Mapping() as items if key == "dependentSchemas":
                    waiting += [(item, (*place, key, name)) for name, item in items.items()]
                case Mapping() as item:
                    waiting.append((item, (*place, key)))


def most_applications(root: Mapping[str, Json]) -> int:
    """The most schemas that are applied to one value, each as often as references lead to it.

    A few lines of references to references stand for more than can be counted. Raises RecursionError where they lead on
    and on.
    """
    known: dict[int, int] = {}

    def applications(schema: Json) -> int:
        if not isinstance(schema, Mapping):
            return 0
        if id(schema) not in known:
            known[id(schema)] = 0  # a circle ends where it began
            target = follow_reference(root, schema)
            inner = [*_in_place(schema), *([target[0]] if target else [])]
            known[id(schema)] = 1 + sum(map(applications, inner))
        return known[id(schema)]

    return max(applications(schema) for _, schema in schemas_in(root))


def _in_place(schema: Mapping[str, Json]) -> Iterator[Json]:
    """The direct subschemas that are applied to the same value."""
    for key in (*IN_PLACE_KEYWORDS, "if", "not"):
        match schema.get(key):
            case list() as items:
                yield from items
            case Mapping() as items if key == "dependentSchemas":
                yield from items.values()
            case item:
                yield item


def resolve_references(root: Mapping[str, Json], schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """`schema` merged with the target of its `$ref`. Keywords next to the `$ref` take precedence."""
    seen = set()
    while (target := follow_reference(root, schema)) and target[1] not in seen:
        seen.add(target[1])
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target[0], **beside} if beside else target[0]
    return schema


def object_form(root: Mapping[str, Json], schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """The object of a union with exactly one, such as an object or null; any other schema unchanged."""
    for key in ("anyOf", "oneOf"):
        forms = schema.get(key)
        branches = (
            [resolve_references(root, form) for form in forms if isinstance(form, Mapping)]
            if isinstance(forms, list)
            else []
        )
        objects = [form for form in branches if "properties" in form or form.get("type") == "object"]
        if len(objects) == 1:
            return {**objects[0], **{word: value for word, value in schema.items() if word != key}}
    return schema


class UndeclaredError(LookupError):
    """The schema allows no property of that name: the last of `path`. `known` are the properties that it has."""

    def __init__(self, path: Path, known: Sequence[str]) -> None:
        super().__init__(path)
        self.path = path
        self.known = known


def locate_schema(root: Mapping[str, Json], path: Sequence[str | int]) -> Path | None:
    """The path in the strict schema `root` of the schema that describes the value at `path` of the arguments.

    None if no schema does, or several different ones do. Raises UndeclaredError for a property that is not allowed.
    """
    here: Path = ()
    for index, step in enumerate(path):
        pieces = list(applied_schemas(root, look_up(root, here), here))
        found = list(_step_paths(pieces, step))
        if not found and isinstance(step, str) and _is_closed(pieces):
            raise UndeclaredError(tuple(path[: index + 1]), [name for piece, _ in pieces for name in _names(piece)])
        if not found or any(look_up(root, other) != look_up(root, found[0]) for other in found):
            return None
        here = found[0]
    return here


def _step_paths(pieces: Sequence[tuple[Mapping[str, Json], Path]], step: str | int) -> Iterator[Path]:
    """The paths of the schemas for a property or an item; those of a property by its name come first."""
    named = [(*path, "properties", step) for piece, path in pieces if step in _names(piece)]
    yield from named or (found for piece, path in pieces for found in _general_paths(piece, path, step))


def _general_paths(piece: Mapping[str, Json], path: Path, step: str | int) -> Iterator[Path]:
    if isinstance(step, str):
        if isinstance(piece.get("additionalProperties"), Mapping) and not piece.get("patternProperties"):
            yield (*path, "additionalProperties")
    elif isinstance(first := piece.get("prefixItems"), list) and step < len(first):
        yield (*path, "prefixItems", step)
    elif isinstance(piece.get("items"), Mapping):
        yield (*path, "items")


def _is_closed(pieces: Sequence[tuple[Mapping[str, Json], Path]]) -> bool:
    if any(piece.get("patternProperties") for piece, _ in pieces):
        return False
    return any(
        piece.get(key) is False for piece, _ in pieces for key in ("additionalProperties", "unevaluatedProperties")
    ) and not any(piece.get("additionalProperties", False) is not False for piece, _ in pieces)


def _names(piece: Mapping[str, Json]) -> Sequence[str]:
    properties = piece.get("properties")
    return list(properties) if isinstance(properties, Mapping) else []
