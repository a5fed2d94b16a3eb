"""Finding one's way in a schema: local references and schemas that apply at one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias
from urllib.parse import unquote

from pytest_fcall.core import Json

Path: TypeAlias = tuple[str | int, ...]

IN_PLACE: Final = ("allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas")
"""Keywords whose schemas speak of the same value as the schema around them."""


def look_up(root: Json, path: Sequence[str | int]) -> Json:
    """What stands at `path` below `root`. LookupError where nothing does."""
    here = root
    for step in path:
        if isinstance(here, Mapping) and isinstance(step, str):
            here = here[step]
        elif isinstance(here, list | tuple) and str(step).isdecimal():
            here = here[int(step)]
        else:
            raise LookupError(step)
    return here


def leads_somewhere(root: Json, path: Sequence[str | int]) -> bool:
    """Whether anything stands at `path` below `root`."""
    try:
        look_up(root, path)
    except LookupError:
        return False
    return True


def pointer_path(reference: str) -> Path | None:
    """The path that a local reference (`#`, `#/$defs/Pet`) stands for; None for any other reference."""
    if reference == "#":
        return ()
    if not reference.startswith("#/"):
        return None
    return tuple(unquote(step).replace("~1", "/").replace("~0", "~") for step in reference[2:].split("/"))


def pointer(path: Path) -> str:
    """The local reference that stands for `path`, the other way round."""
    return "/".join(("#", *(str(step).replace("~", "~0").replace("/", "~1") for step in path)))


def follow(root: Mapping[str, Json], schema: Mapping[str, Json]) -> tuple[Mapping[str, Json], Path] | None:
    """The schema that the `$ref` in `schema` leads to, and its path; None without one, or where it leads nowhere."""
    reference = schema.get("$ref")
    path = pointer_path(reference) if isinstance(reference, str) else None
    if path is None:
        return None
    try:
        target = look_up(root, path)
    except LookupError:
        return None
    return (target, path) if isinstance(target, Mapping) else None


def in_place(
    root: Mapping[str, Json], schema: Json, path: Path = (), through: Sequence[str] = IN_PLACE
) -> Iterator[tuple[Mapping[str, Json], Path]]:
    """`schema`, which stands at `path`, and all schemas that it applies to the same value, each once, with its path.

    They are reached through `$ref` and the keywords in `through`.
    """
    waiting: list[tuple[Json, Path]] = [(schema, path)]
    seen: set[int] = set()
    while waiting:
        here, place = waiting.pop(0)
        if not isinstance(here, Mapping) or id(here) in seen:
            continue
        seen.add(id(here))
        yield here, place
        if target := follow(root, here):
            waiting.append(target)
        for key in through:
            match here.get(key):
                case list() as items:
                    waiting += [(item, (*place, key, index)) for index, item in enumerate(items)]
                case Mapping() as items if key == "dependentSchemas":
                    waiting += [(item, (*place, key, name)) for name, item in items.items()]
                case Mapping() as item:
                    waiting.append((item, (*place, key)))


def resolved(root: Mapping[str, Json], schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """`schema` with what its `$ref` leads to; what stands beside the `$ref` goes before."""
    seen = set()
    while (target := follow(root, schema)) and target[1] not in seen:
        seen.add(target[1])
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target[0], **beside} if beside else target[0]
    return schema


def object_form(root: Mapping[str, Json], schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """The object in a union that has just one, such as an object or null; any other schema is returned as it is."""
    for key in ("anyOf", "oneOf"):
        forms = schema.get(key)
        branches = (
            [resolved(root, form) for form in forms if isinstance(form, Mapping)] if isinstance(forms, list) else []
        )
        objects = [form for form in branches if "properties" in form or form.get("type") == "object"]
        if len(objects) == 1:
            return {**objects[0], **{word: value for word, value in schema.items() if word != key}}
    return schema
