"""Too much of everything."""

from __future__ import annotations

import mmap
import sys
import zlib
from collections.abc import Iterator
from typing import Any


def a_string_of_10_gb() -> int:
    return len("x" * 10**10)


def a_list_without_end() -> list[bytes]:
    return [bytes(1 << 24) for _ in iter(int, 1)]


def a_map_of_10_gb() -> int:
    return len(mmap.mmap(-1, 10**10))


def unpack_10_gb() -> int:
    packer = zlib.compressobj(9)
    block = bytes(1 << 24)
    packed = packer.compress(block)
    return len(zlib.decompress(packed, bufsize=10**10))


def recurse() -> None:
    recurse()


class Endless:
    def __init__(self) -> None:
        self._depth = 0

    def __getattr__(self, _: str) -> Endless:
        return Endless()

    def __call__(self, *_: object, **__: object) -> Endless:
        return Endless()


def give_a_bomb() -> object:
    """A few hundred bytes that are 10**30 when they are written down."""
    value: object = "x"
    for _ in range(30):
        value = [value] * 10
    return value


def give_10_mb() -> str:
    return "x" * 10_000_000


def give_without_end() -> Iterator[int]:
    yield from iter(int, 1)


def give_great_depth() -> list[Any]:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


def give_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def give_a_huge_number() -> int:
    return 1 << 10_000_000


def give_what_has_every_attribute() -> Endless:
    return Endless()


def give_a_function() -> object:
    return give_itself


def give_bytes() -> bytes:
    return b"\xff"


def give_infinity() -> float:
    return float("inf")


class Loud(Exception):
    def __str__(self) -> str:
        return "x" * 10_000_000


class Mute(Exception):
    def __str__(self) -> str:
        raise self


class Baseless(BaseException):
    pass


def leave() -> None:
    sys.exit(3)


def interrupt() -> None:
    raise KeyboardInterrupt


def raise_loudly() -> None:
    raise Loud


def raise_mutely() -> None:
    raise Mute


def raise_baselessly() -> None:
    raise Baseless("from nothing")
