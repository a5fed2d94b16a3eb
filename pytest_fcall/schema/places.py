"""Which part of a schema speaks of which part of the arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_fcall.core import Json
from pytest_fcall.schema.pointers import Path, in_place, look_up


class UndeclaredError(LookupError):
    """The schema forbids what was asked for: `path` ends in a name that no property has, `known` are those it has."""

    def __init__(self, path: Path, known: Sequence[str]) -> None:
        super().__init__(path)
        self.path = path
        self.known = known


def locate(root: Mapping[str, Json], path: Sequence[str | int]) -> Path | None:
    """The way in the strict schema `root` to what describes the value at `path`; None where it says nothing."""
    here: Path = ()
    for index, step in enumerate(path):
        pieces = list(in_place(root, look_up(root, here), here))
        ways = list(_ways(pieces, step))
        if not ways and isinstance(step, str) and _is_closed(pieces):
            raise UndeclaredError(tuple(path[: index + 1]), [name for piece, _ in pieces for name in _names(piece)])
        if not ways or any(look_up(root, way) != look_up(root, ways[0]) for way in ways):
            return None
        here = ways[0]
    return here


def _ways(pieces: Sequence[tuple[Mapping[str, Json], Path]], step: str | int) -> Iterator[Path]:
    named = [(*way, "properties", step) for piece, way in pieces if step in _names(piece)]
    yield from named or (way for piece, place in pieces for way in _general(piece, place, step))


def _general(piece: Mapping[str, Json], place: Path, step: str | int) -> Iterator[Path]:
    if isinstance(step, str):
        if isinstance(piece.get("additionalProperties"), Mapping) and not piece.get("patternProperties"):
            yield (*place, "additionalProperties")
    elif isinstance(first := piece.get("prefixItems"), list) and step < len(first):
        yield (*place, "prefixItems", step)
    elif isinstance(piece.get("items"), Mapping):
        yield (*place, "items")


def _is_closed(pieces: Sequence[tuple[Mapping[str, Json], Path]]) -> bool:
    if any(piece.get("patternProperties") for piece, _ in pieces):
        return False
    return any(
        piece.get(key) is False for piece, _ in pieces for key in ("additionalProperties", "unevaluatedProperties")
    ) and not any(piece.get("additionalProperties", False) is not False for piece, _ in pieces)


def _names(piece: Mapping[str, Json]) -> Sequence[str]:
    properties = piece.get("properties")
    return list(properties) if isinstance(properties, Mapping) else []
