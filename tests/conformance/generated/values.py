"""Values, and how they go wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.conformance.generated.chances import chance, one_made, one_of

STRINGS = (
    "a",
    "",
    "New York, NY",
    "new-york",
    "-",
    "it's",
    'say "hi"',
    "2024-01-05",
    "5",
    "1.5",
    "true",
    "null",
    "a_b*c^d/e.f",
    "line\nbreak",
    "tab\there",
    "back\\slash",
    "Straße",
    "İstanbul",
    "ﬁ",
    "日本",
    "😀",
    "\x00",
    "\u00a0",
    "A B",
    "{x}",
    "[1, 2]",
    "user.name",
)
NUMBERS = (0, 1, -1, 5, 42, 10**18, 2.5, -0.0, 1.0, 0.1, 1e-7, 1e22, math.inf, math.nan, True, False)


def any_value(draw: st.DrawFn, depth: int = 2) -> Any:
    """Something that JSON can say, or a tuple."""
    makers: list[Callable[[], Any]] = [
        lambda: one_of(draw, STRINGS),
        lambda: one_of(draw, NUMBERS),
        lambda: draw(st.integers(-1000, 1000)),
        lambda: None,
    ]
    if depth:
        makers += [
            lambda: _any_values(draw, depth - 1),
            lambda: tuple(_any_values(draw, depth - 1)),
            lambda: {one_of(draw, STRINGS): each for each in _any_values(draw, depth - 1)},
        ]
    return one_made(draw, makers)


def _any_values(draw: st.DrawFn, depth: int) -> list[Any]:
    return [any_value(draw, depth) for _ in range(draw(st.integers(0, 3)))]


def disturbed(draw: st.DrawFn, value: Any) -> Any:
    """The value with one thing changed: its type, its spelling, an item, or all of it."""
    makers: list[Callable[[], Any]] = [
        lambda: any_value(draw),
        lambda: None,
        lambda: "",
        lambda: [value],
        lambda: str(value),
    ]
    if isinstance(value, str):
        makers += [lambda: _respelt(draw, value)] * 6
    elif isinstance(value, (bool, int, float)):
        makers += [lambda: _recounted(draw, value)] * 6
    elif isinstance(value, (list, tuple)):
        makers += [lambda: _rearranged(draw, value)] * 8
    elif isinstance(value, dict):
        makers += [lambda: _rekeyed(draw, value)] * 8
    return one_made(draw, makers)


def _respelt(draw: st.DrawFn, text: str) -> Any:
    changes: tuple[Callable[[str], Any], ...] = (
        str.upper,
        str.lower,
        str.swapcase,
        str.casefold,
        lambda s: s.replace(" ", ""),
        lambda s: s.replace(" ", "_").replace(",", "."),
        lambda s: f"-{s}^*",
        lambda s: f"{s} ",
        lambda s: f"{s}\n",
        lambda s: f"{s}!",
        lambda s: s.replace("a", "’"),
        lambda s: s.replace("'", '"'),
        lambda s: f'"{s}"',
        lambda s: f"'{s}'",
        lambda s: s[1:],
        lambda s: s.split(),
        list,
        lambda s: int(s) if s.isascii() and s.isdigit() else s,
    )
    return one_of(draw, changes)(text)


def _recounted(draw: st.DrawFn, number: float) -> Any:
    changes: tuple[Callable[[Any], Any], ...] = (
        lambda n: -n,
        lambda n: n + 1,
        lambda n: n + 1e-9,
        lambda n: n * 10,
        lambda n: n / 100,
        float,
        lambda n: int(n) if math.isfinite(n) else n,
        bool,
        lambda n: not n,
        lambda n: f"{n}",
        lambda n: f"{n}%",
        lambda n: int(n) if isinstance(n, bool) else n == 1,
    )
    return one_of(draw, changes)(number)


def _rearranged(draw: st.DrawFn, items: Any) -> Any:
    changes: tuple[Callable[[list[Any]], Any], ...] = (
        tuple,
        list,
        lambda each: each[::-1],
        lambda each: each[:-1],
        lambda each: [*each, any_value(draw, 1)],
        lambda each: each * 2,
        lambda _: [],
        lambda each: ", ".join(map(str, each)),
        lambda each: {str(number): item for number, item in enumerate(each)},
        lambda each: each[0] if each else None,
        lambda each: [disturbed(draw, item) if chance(draw, 50) else item for item in each],
        lambda each: tuple(disturbed(draw, item) for item in each),
    )
    return one_of(draw, changes)(list(items))


def _rekeyed(draw: st.DrawFn, mapping: dict[Any, Any]) -> Any:
    changes: tuple[Callable[[dict[Any, Any]], Any], ...] = (
        lambda each: dict(list(each.items())[1:]),
        lambda each: dict(reversed(each.items())),
        lambda each: {**each, "extra": any_value(draw, 1)},
        lambda each: {str(key).upper(): value for key, value in each.items()},
        lambda each: list(each.items()),
        lambda _: {},
        lambda each: {key: [value] for key, value in each.items()},
        lambda each: {key: disturbed(draw, value) if chance(draw, 60) else value for key, value in each.items()},
    )
    return one_of(draw, changes)(mapping)
