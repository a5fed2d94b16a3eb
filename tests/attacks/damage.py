"""Kinds of damage to files: what a disk, a merge, an editor or an attacker may make of their bytes."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Any, Final, TypeAlias

Damage: TypeAlias = Callable[[bytes, Random], bytes]

_VALUES: Final[Sequence[str]] = (
    "null",
    "true",
    "-1",
    "0",
    "1e400",
    "-1e400",
    "NaN",
    "9" * 400,
    "9" * 5_000,
    "-" + "9" * 400,
    "1.5",
    '""',
    '"x"',
    '"\\ud800"',
    '"\\u0000"',
    '"\\u001b[31m\\u202e"',
    '"../../../../tmp/x"',
    '"{\\"valid\\": 1}"',
    "[]",
    "[[]]",
    "[1, 2]",
    "{}",
    '{"a": null}',
    "[" * 5_000 + "]" * 5_000,
    "[" * 200_000,
)
"""JSON, and what only looks like it, that stands where something else is expected."""
_SCALAR = re.compile(rb'"(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null')


def one_bit(content: bytes, random: Random) -> bytes:
    place = random.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << random.randrange(8))]) + content[place + 1 :]


def high_bytes(content: bytes, random: Random) -> bytes:
    """One to three bytes that are no UTF-8."""
    place, size = random.randrange(len(content)), random.randint(1, 3)
    return content[:place] + b"\xff" * size + content[place + size :]


def zeros(content: bytes, random: Random) -> bytes:
    """A part, as long as a sector at most, that was never written."""
    place, size = random.randrange(len(content)), random.choice((1, 16, 512))
    return content[:place] + bytes(min(size, len(content) - place)) + content[place + size :]


def cut_off(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content))]


def inserted(content: bytes, random: Random) -> bytes:
    place = random.randrange(len(content))
    return content[:place] + random.choice((b"\n", b"{", b"\xed\xa0\x80", b"<<<<<<< HEAD\n", b"\0")) + content[place:]


def doubled(content: bytes, random: Random) -> bytes:
    """A part that is there twice, as after a bad merge."""
    start = random.randrange(len(content))
    return content[:start] + content[random.randrange(len(content)) :]


def other_value(content: bytes, random: Random) -> bytes:
    """Another value, at any place where text has a value of JSON."""
    found = [*_SCALAR.finditer(content)]
    if not found:
        return one_bit(content, random)
    place = random.choice(found)
    return content[: place.start()] + random.choice(_VALUES).encode() + content[place.end() :]


def other_field(content: bytes, random: Random) -> bytes:
    """JSON in which a value, at any depth, was replaced or removed: of the whole file, or of one of its lines."""
    try:
        return _with_other_field(content, random)
    except ValueError:
        lines = content.split(b"\n")
        number = random.randrange(len(lines))
        try:
            lines[number] = _with_other_field(lines[number], random)
        except ValueError:
            return other_value(content, random)
        return b"\n".join(lines)


def _with_other_field(text: bytes, random: Random) -> bytes:
    """Raises ValueError for what is no JSON, or has no fields."""
    data = json.loads(text)
    places = [*_places(data)]
    if not places:
        raise ValueError
    owner, key = random.choice(places)
    if random.random() < 0.2:
        del owner[key]
    else:
        owner[key] = random.choice(
            (None, 10**30, 10**400, -1, 1.5, 1e300, "", "x", "\ud800", [], [1, [2]], {}, {"a": 1}, True)
        )
    return json.dumps(data).encode()


def _places(data: Any) -> Any:
    for key in data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ():
        yield data, key
        yield from _places(data[key])


def inside_gzip(damage: Damage) -> Damage:
    """The same damage to what is compressed."""

    def changed(content: bytes, random: Random) -> bytes:
        return gzip.compress(damage(gzip.decompress(content), random))

    return changed


BYTES: Final[Mapping[str, Damage]] = MappingProxyType(
    {each.__name__: each for each in (one_bit, high_bytes, zeros, cut_off, inserted, doubled)}
)
"""Of any file."""
TEXT: Final[Mapping[str, Damage]] = MappingProxyType(
    {**BYTES, **{each.__name__: each for each in (other_value, other_field)}}
)
"""Of a file of JSON."""
GZIP: Final[Mapping[str, Damage]] = MappingProxyType(
    {**BYTES, **{f"inside_{name}": inside_gzip(damage) for name, damage in TEXT.items()}}
)
