"""Python values that JSON does not have, written as objects with one telling key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType


def unmarked(value: object) -> object:
    """Put the tuples, bytes, complex numbers and odd keys back that stand as `{"__tuple__": […]}` and the like.

    A mark around something else than it promises is an ordinary object.
    """
    if isinstance(value, list):
        return [unmarked(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (key, inside), *_ = value.items()
        if key in _MARKS:
            try:
                return _MARKS[key](inside)
            except (TypeError, ValueError):
                pass
    return {key: unmarked(item) for key, item in value.items()}


def _tuple(items: object) -> tuple[object, ...]:
    return tuple(unmarked(item) for item in _list(items))


def _dict(pairs: object) -> dict[object, object]:
    return {unmarked(key): unmarked(item) for key, item in map(_list, _list(pairs))}


def _bytes(text: object) -> bytes:
    if not isinstance(text, str):
        raise TypeError
    return text.encode("latin-1")


def _complex(parts: object) -> complex:
    real, imaginary = map(_number, _list(parts))
    return complex(real, imaginary)


def _list(value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError
    return value


_MARKS: Mapping[str, Callable[[object], object]] = MappingProxyType(
    {"__tuple__": _tuple, "__dict__": _dict, "__bytes__": _bytes, "__complex__": _complex}
)
