"""What the names under `format` ask for. Names that stand in neither table are only words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pytest_fcall.core import Json

IN_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "date": "a date such as 2026-11-21",
        "date-time": "a date and time with its offset, such as 2026-11-21T16:30:00Z",
        "duration": "a duration such as PT1H30M",
        "email": "an e-mail address",
        "hostname": "a host name",
        "idn-email": "an e-mail address",
        "idn-hostname": "a host name",
        "ipv4": "an IPv4 address",
        "ipv6": "an IPv6 address",
        "iri": "an IRI such as https://example.org/a",
        "iri-reference": "an IRI or a part of one",
        "json-pointer": "a JSON pointer such as /a/0",
        "regex": "a regular expression of JSON Schema",
        "relative-json-pointer": "a relative JSON pointer such as 1/a",
        "time": "a time of day with its offset, such as 16:30:00Z",
        "uri": "a URI such as https://example.org/a",
        "uri-reference": "a URI or a part of one",
        "uri-template": "a URI template such as /users/{id}",
        "uuid": "a UUID such as 2eb8aa08-aa98-11ea-b4aa-73b441d16380",
    }
)
"""The formats of strings that the validator knows."""

_RANGES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)}
    | {f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)}
)
"""The integers that fit into OpenAPI's formats of a width."""


def add_bounds(schema: dict[str, Json]) -> None:
    """Write the range of an integer format as bounds; those that the schema has may be narrower."""
    name = schema.get("format")
    if not isinstance(name, str) or name not in _RANGES:
        return
    low, high = _RANGES[name]
    schema["minimum"] = max(low, _number(schema.get("minimum"), low))
    schema["maximum"] = min(high, _number(schema.get("maximum"), high))


def _number(bound: Json, otherwise: int) -> int | float:
    return bound if isinstance(bound, int | float) else otherwise
