"""Gates: bounds on a whole run, such as `accuracy[parallel] >= 90% and cost <= $2`, and their parser."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import get_args

from pytest_fcall.core.message_text import did_you_mean
from pytest_fcall.tracking.gate_figures import (
    FIGURES,
    FigureKind,
    FigureNumber,
    GroupFigures,
    figure_named,
    read_share,
)
from pytest_fcall.tracking.slices import SliceKind

SIGNS: Mapping[str, Callable[[FigureNumber, FigureNumber], bool]] = MappingProxyType(
    {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}
)


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on a figure or a score: of all cases, or of those that have every name in `scope`.

    The names are categories, tags, suites and models.
    """

    text: str
    """The gate as it was written."""
    figure: str
    sign: str
    bound: FigureNumber
    share: bool = False
    """Whether the bound of a count is in percent."""
    scope: tuple[str, ...] = ()
    by: SliceKind = "model"
    """The unit of a significance test."""

    @property
    def kind(self) -> FigureKind:
        """The kind of its figure and bound."""
        return "share" if self.share else figure_named(self.figure).kind

    def judge(self, measured: GroupFigures) -> GateVerdict:
        """Judge the gate for the figures of its cases.

        It fails where no missing reply could make it hold. Otherwise it is undecided as long as anything is missing,
        and where no case is meant: of none, every count is right.
        """
        figure = figure_named(self.figure)
        reading = read_share(figure, measured) if self.share else figure.read(measured)
        nearest = min(max(self.bound, reading.low), reading.high)
        holds = [SIGNS[self.sign](each, self.bound) for each in (reading.low, nearest, reading.high)]
        reason = measured.unknown_scope or reading.missing_reason or ("" if all(holds) else reading.doubt)
        held = False if not any(holds) else None if reason else True
        return GateVerdict(self, reading.value, held, reason if any(holds) else "", measured)


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether a gate held; None where that is undecided, for `missing_reason`."""

    gate: Gate
    figure: FigureNumber | None
    held: bool | None
    missing_reason: str
    measured: GroupFigures = field(default_factory=GroupFigures, compare=False)
    """The figures of its cases."""


_BOUND_PATTERN = re.compile(r"(?P<dollar>\$?)(?P<number>\d{1,12}(?:\.\d{1,12})?)(?: ?(?P<unit>%|(?!and\b)[a-z]+))?")
_NAME_PATTERN = re.compile(r"\w+(?:\([a-z]+\))?")
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0}
_SYNONYMS = {"latency": "p95", "time": "p95", "price": "cost", "slowest": "max"} | dict.fromkeys(
    ("passed", "right", "failed", "wrong", "success"), "accuracy"
)
"""Other words for figures, which are spelled unlike them."""


class GateError(ValueError):
    """A gate that cannot be parsed. The message shows the gate, with a caret under the error."""

    def __init__(self, text: str, column: int, message: str) -> None:
        super().__init__(f"{message}\n  {text}\n  {' ' * column}^")
        self.text = text
        self.column = column
        self.message = message


def parse_gates(text: str, scores: Callable[[], Iterable[str]] = tuple) -> tuple[Gate, ...]:
    """Parse gates that are joined by `and`. Raises GateError.

    A name that is not a figure must be one of `scores`, which is only called for such a name.
    """
    reader = _Scanner(text)
    gates = [_parse_gate(reader, scores)]
    while not reader.is_at_end:
        reader.take(r"and\b", "`and` or the end")
        gates.append(_parse_gate(reader, scores))
    return tuple(gates)


def _parse_gate(reader: _Scanner, scores: Callable[[], Iterable[str]]) -> Gate:
    start = reader.column
    figure = reader.take(_NAME_PATTERN.pattern, f"a figure: {', '.join(FIGURES)}")[0]
    if figure not in FIGURES and figure not in scores():
        raise reader.error(f"unknown figure {figure!r}; {_suggestion(figure, [*scores()])}", start)
    kind = figure_named(figure).kind
    if kind == "chance":
        return _parse_test(reader, figure, start)
    scope = _parse_scope(reader)
    sign = reader.take("|".join(SIGNS), f"one of {' '.join(SIGNS)}")[0]
    at = reader.column
    found = reader.take(_BOUND_PATTERN.pattern, "a number")
    bound, share = _parse_bound(reader, found, kind, at)
    return Gate(reader.text[start : reader.position].strip(), figure, sign, bound, share, scope)


def _parse_test(reader: _Scanner, figure: str, start: int) -> Gate:
    """A significance test: it holds where the p-value of each part of the cases is above the level."""
    at = reader.column
    level = reader.take(r"\( *(0\.\d{1,12})", "a level in brackets, such as (0.05)")[1]
    if float(level) == 0:
        raise reader.error("the level must be above 0, such as (0.05)", at)
    by = _parse_slice_kind(reader) if reader.starts_with(",") else "model"
    reader.take(r"\)", "a `)` after the level")
    scope = _parse_scope(reader)
    return Gate(reader.text[start : reader.position], figure, ">", float(level), scope=scope, by=by)


def _parse_slice_kind(reader: _Scanner) -> SliceKind:
    kinds: tuple[SliceKind, ...] = get_args(SliceKind)
    reader.take(r", *by *=", f"`, by=` and one of {', '.join(kinds)}")
    at = reader.column
    word = reader.take(r"\w+", f"one of {', '.join(kinds)}")[0]
    found = next((kind for kind in kinds if kind == word), None)
    if found is None:
        suggestion = did_you_mean(word, kinds) or f"available: {', '.join(kinds)}"
        raise reader.error(f"a test by {word!r} is unknown; {suggestion}", at)
    return found


def _parse_scope(reader: _Scanner) -> tuple[str, ...]:
    at = reader.column
    if not reader.starts_with("["):
        return ()
    names = tuple(name.strip() for name in reader.take(r"\[([^]]*)\]", "a `]` after the name")[1].split(","))
    if not all(names):
        raise reader.error("name a category, tag, suite or model in the brackets", at)
    return names


def _parse_bound(reader: _Scanner, found: re.Match[str], kind: FigureKind, at: int) -> tuple[FigureNumber, bool]:
    """The bound, and whether it is a count in percent."""
    number, unit = Fraction(found["number"]), found["unit"] or ""
    if found["dollar"] and kind != "dollars":
        raise reader.error("only cost is in dollars", at)
    if kind == "seconds":
        if unit not in _SECONDS:
            raise reader.error(f"a time needs a unit: {found['number']}s or {found['number']}ms", at)
        return float(found["number"]) * _SECONDS[unit], False
    if unit not in (("", "%") if kind != "dollars" else ("",)):
        fault = "gates are joined by `and` alone" if unit == "or" else f"unknown unit {unit!r}"
        raise reader.error(fault, at + found.start("unit") - found.start())
    if kind == "dollars":
        return float(found["number"]), False
    number = number / 100 if unit else number
    if kind == "share" or unit:
        if number > 1:
            raise reader.error(f"{found[0]} is more than 100 %; write 0.9 or 90%", at)
        return number, kind == "count"
    if number.denominator != 1:
        raise reader.error("must be a whole number or a percentage", at)
    return number, False


def _suggestion(word: str, scores: Collection[str]) -> str:
    meant = _SYNONYMS.get(word.lower(), word)
    available = f"available: {', '.join(FIGURES)}" + (", and the scores in the summary" if scores else "")
    return did_you_mean(meant, (*FIGURES, *scores)) or available


@dataclass(slots=True)
class _Scanner:
    """Reads a text from left to right; spaces between its parts do not matter."""

    text: str
    position: int = 0

    @property
    def column(self) -> int:
        """The column of the next part."""
        rest = self.text[self.position :]
        return self.position + len(rest) - len(rest.lstrip())

    @property
    def is_at_end(self) -> bool:
        return self.column == len(self.text)

    def starts_with(self, text: str) -> bool:
        return self.text.startswith(text, self.column)

    def take(self, pattern: str, expected: str) -> re.Match[str]:
        """Read a match of the pattern. Raises GateError, which names what was expected."""
        found = re.compile(pattern).match(self.text, self.column)
        if found is None:
            raise self.error(f"expected {expected}", self.column)
        self.position = found.end()
        return found

    def error(self, message: str, column: int) -> GateError:
        return GateError(self.text, column, message)
