"""Whether the time grows no faster than the text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.fuzz.texts import MARKS, SAMPLES

NEARLY_A_MEGABYTE = 950_000
"""Characters. Some readers turn down longer text at once, which would tell nothing."""
MOST_SECONDS = 10.0
"""For a megabyte; in proportion for less."""
SOON_ENOUGH = 0.25
"""Seconds for a megabyte that need no second look: what is not linear takes hours."""
MOST_GROWTH = 3.2
"""When the text doubles. Twice would be linear; a shared machine and its caches need some room."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Text of any length: something over and over, between two ends."""

    name: str
    unit: str
    before: str = ""
    after: str = ""

    def text(self, size: int) -> str:
        """Make at least so many characters."""
        return self.before + self.unit * (size // len(self.unit) + 1) + self.after


def shapes() -> Iterator[Shape]:
    """Give the shapes that tell: nothing closed, nothing opened, deep, long, and every mark over and over."""
    for unit in (
        "(",
        "[",
        "{",
        '{"a":',
        "[1,",
        "f(",
        "f(a=",
        "{1:",
        "<",
        "<a>",
        "-",
        "not ",
        "~",
        "a.",
        "1+",
        "1**",
        "'",
    ):
        yield Shape(f"{unit!r} over and over", unit)
    for unit in (
        '"',
        "\\",
        "`",
        "```",
        "'''",
        "\\u",
        "9",
        "1_",
        "0",
        " ",
        "\n",
        "a",
        "é",
        "\ud800",
        "\x00",
        "=",
        ",",
        "#\n",
    ):
        yield Shape(f"{unit!r} over and over", unit)
    for unit in MARKS:
        yield Shape(f"{unit!r} over and over", unit)
    yield Shape("text in a call", "a", "[find(city='", "')]")
    yield Shape("quotes in a call", "\\'", "[find(city='", "')]")
    yield Shape("an open text in a call", "a ", "[find(city='")
    yield Shape("digits in a call", "9", "[find(days=", ")]")
    yield Shape("a sum in a call", "1+", "[find(days=", "1)]")
    yield Shape("signs in a call", "-", "[find(days=", "1)]")
    yield Shape("a dotted name", "a.", "[", "b()]")
    yield Shape("adjacent texts in a call", "'a' ", "[find(city=", ")]")
    yield Shape("lists in a call", "[", "[find(at=", ")]")
    yield Shape("a long list in a call", "1, ", "[find(at=[", "])]")
    yield Shape("a large dict in a call", "'a': 1, ", "[find(at={", "})]")
    yield Shape("many arguments", "a=1, ", "[find(", ")]")
    yield Shape("many positional arguments", "1, ", "[find(", ")]")
    yield Shape("many calls", "find(city='Oslo'), ", "[", "find()]")
    yield Shape("many calls in JSON", '{"name": "find", "arguments": {"city": "Oslo"}}, ', "[", '{"name": "find"}]')
    yield Shape("text in JSON", "a", '{"name": "find", "arguments": {"city": "', '"}}')
    yield Shape("an open text in JSON", "a", '{"name": "find", "arguments": {"city": "')
    yield Shape("escapes in JSON", "\\u0041", '{"name": "find", "arguments": {"city": "', '"}}')
    yield Shape("digits in JSON", "9", '{"name": "find", "arguments": {"days": ', "}}")
    yield Shape("the same key in JSON", '"a": 1, ', '{"name": "find", "arguments": {', '"b": 1}}')
    yield Shape("objects in JSON", '{"a":', '{"name": "find", "arguments": ')
    yield Shape("calls begun in JSON", '{"name": "find", "arguments": {')
    yield Shape("additions in Java", "add(1); ", "new ArrayList<Integer>() {{ ", "}}")
    yield Shape("entries in Java", 'put("a", 1); ', "new HashMap<String, Object>() {{ ", "}}")
    yield Shape("open entries in Java", 'put("a', "new HashMap<String, Object>() {{ ")
    yield Shape("maps in Java", "new HashMap<", "", "")
    yield Shape("elements in Java", "1, ", "new int[]{", "}")
    yield Shape("lists in JavaScript", "[1], ", "[", "[2]]")
    yield Shape("open lists in JavaScript", "[[a], ")
    yield Shape("entries in JavaScript", "a: 1, ", "{", "b: 2}")
    yield Shape("colons in JavaScript", ":", "{", "}")
    yield Shape("commas in JavaScript", "a:,", "{", "}")
    for number, sample in enumerate(SAMPLES):
        yield Shape(f"sample {number} over and over", f"{sample}\n")
        yield Shape(f"the first half of sample {number} over and over", sample[: len(sample) // 2])


def too_slow(run: Callable[[str], object], shape: Shape) -> str | None:
    """Say how the time grows, if it does so faster than the text or is too long altogether."""
    shorter = 0.0
    for size in (NEARLY_A_MEGABYTE // 64, NEARLY_A_MEGABYTE // 8, NEARLY_A_MEGABYTE):
        share = size / NEARLY_A_MEGABYTE
        took = _seconds(run, shape.text(size))
        if took > SOON_ENOUGH + MOST_SECONDS * share:
            return f"{took:.1f} s for {size:,} characters"
        if took > SOON_ENOUGH * share and took > 0.1 and took > shorter * MOST_GROWTH**3:
            growth = _growth(run, shape, size)
            if growth > MOST_GROWTH:
                return f"{growth:.1f} times as long for {size:,} characters as for half of them"
        shorter = took
    return None


def _growth(run: Callable[[str], object], shape: Shape, size: int) -> float:
    """The fastest of several runs at either size."""
    pairs = [(_seconds(run, shape.text(size // 2)), _seconds(run, shape.text(size))) for _ in range(5)]
    return min(pair[1] for pair in pairs) / min(pair[0] for pair in pairs)


def _seconds(run: Callable[[str], object], text: str) -> float:
    """CPU time: others who use the machine do not count."""
    started = time.process_time()
    run(text)
    return time.process_time() - started
