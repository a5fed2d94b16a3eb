"""How deep a value may be for what is wrong with it to be told in good time.

A value that fits no form of a union is told what keeps it from each. Where the forms hold the union again, these
complaints multiply with every level: a model that nests a few dozen levels could keep us busy for years.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from pytest_fcall.core import Json
from pytest_fcall.schema.keywords import schemas_in
from pytest_fcall.schema.pointers import Path, follow, resolved

Depths: TypeAlias = Mapping[type, int]
"""How many objects (dict) in one another, and how many lists, can be explained; no word of a kind is no limit."""

_MOST_COMPLAINTS: Final = 1000
_KINDS: Final[Mapping[type, str]] = {dict: "object", list: "array"}


def explicable(root: Mapping[str, Json]) -> Depths:
    """The depths to which values under the schema `root` can be explained."""
    schemas = list(schemas_in(root))
    if not _is_recursive(root, schemas):
        return {}
    forms = {kind: max(_forms(root, schema, name) for _, schema in schemas) for kind, name in _KINDS.items()}
    return {kind: int(math.log(_MOST_COMPLAINTS, count)) for kind, count in forms.items() if count > 1}


def is_deeper(value: Json, depths: Depths) -> bool:
    """Whether a value in dicts and lists is too deep to be explained."""
    return any(_levels(value, kind) > most for kind, most in depths.items())


def _levels(value: Json, kind: type) -> int:
    if isinstance(value, dict):
        inside: Sequence[Json] = list(value.values())
    elif isinstance(value, list):
        inside = value
    else:
        return 0
    return isinstance(value, kind) + max((_levels(item, kind) for item in inside), default=0)


def _is_recursive(root: Mapping[str, Json], schemas: Sequence[tuple[Path, Mapping[str, Json]]]) -> bool:
    """Whether a schema refers to itself, at once or through others."""
    references = [(path, target[1]) for path, schema in schemas if (target := follow(root, schema))]
    leads_to = {
        target: {other for path, other in references if path[: len(target)] == target} for _, target in references
    }
    return any(target in _reached(leads_to, target) for target in leads_to)


def _reached(leads_to: Mapping[Path, set[Path]], start: Path) -> set[Path]:
    reached: set[Path] = set()
    waiting = [*leads_to[start]]
    while waiting:
        if (here := waiting.pop()) not in reached:
            reached.add(here)
            waiting.extend(leads_to[here])
    return reached


def _forms(root: Mapping[str, Json], schema: Mapping[str, Json], kind: str) -> int:
    """How many forms of a union take values of a kind."""
    listed = (schema.get(key) for key in ("anyOf", "oneOf"))
    return max(
        (sum(_takes(root, form, kind) for form in forms) for forms in listed if isinstance(forms, list)), default=0
    )


def _takes(root: Mapping[str, Json], form: Json, kind: str) -> bool:
    if not isinstance(form, Mapping):
        return form is True
    kinds = resolved(root, form).get("type", kind)
    return kind in kinds if isinstance(kinds, list) else kinds == kind
