"""Gates: bounds on a whole run, and how they are written: `accuracy[parallel] >= 90% and cost <= $2`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from types import MappingProxyType

from pytest_fcall.tracking.gate_figures import (
    FIGURES,
    FigureKind,
    FigureRange,
    GroupFigures,
    Number,
    figure_named,
    read_share,
)

SIGNS: Mapping[str, Callable[[Number, Number], bool]] = MappingProxyType(
    {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}
)


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on a figure or a score of all cases, or of those that have each name in `scope`.

    Names are categories, tags, suites and models.
    """

    text: str
    """As it was written."""
    figure: str
    sign: str
    bound: Number
    share: bool = False
    """Whether a count is bounded in percent."""
    scope: tuple[str, ...] = ()

    @property
    def kind(self) -> FigureKind:
        """How its figure and its bound are written."""
        return "share" if self.share else figure_named(self.figure).kind

    def judge(self, measured: GroupFigures) -> GateVerdict:
        """Say whether it holds for its cases.

        It does not, if nothing that is lacking could make it; where anything is lacking, it never holds for certain.
        """
        figure = figure_named(self.figure)
        reading = read_share(figure, measured) if self.share else figure.read(measured)
        if not self._may_hold(reading):
            return GateVerdict(self, reading.value, held=False)
        return GateVerdict(self, reading.value, held=None if reading.lacking else True, lacking=reading.lacking)

    def _may_hold(self, reading: FigureRange) -> bool:
        if self.sign == "==":
            return reading.low <= self.bound <= reading.high
        return any(SIGNS[self.sign](end, self.bound) for end in (reading.low, reading.high))


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether a gate held; None where nobody can know, since something is `lacking`."""

    gate: Gate
    figure: Number | None
    held: bool | None
    lacking: str = ""


_BOUND_PATTERN = re.compile(r"(?P<dollar>\$?)(?P<number>\d{1,12}(?:\.\d{1,12})?)(?: ?(?P<unit>%|(?!and\b)[a-z]+))?")
_NAME_PATTERN = re.compile(r"\w+(?:\([a-z]+\))?")
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0}
_SYNONYMS = {"regressed": "regressions", "latency": "p95", "time": "p95", "price": "cost", "slowest": "max"}


class GateError(ValueError):
    """A gate that cannot be read. The text of the error has the gate, and a caret under what is wrong."""

    def __init__(self, text: str, column: int, message: str) -> None:
        super().__init__(f"{message}\n  {text}\n  {' ' * column}^")
        self.text = text
        self.column = column
        self.message = message


def parse_gates(text: str, scores: Callable[[], Iterable[str]] = tuple) -> tuple[Gate, ...]:
    """Read gates that are joined by `and`, all of which must hold. Raises GateError.

    What is no figure must be among `scores`, which are gone through no further than is needed.
    """
    reader = _Scanner(text)
    gates = [_parse_gate(reader, scores)]
    while not reader.is_at_end:
        reader.take(r"and\b", "`and`, or the end")
        gates.append(_parse_gate(reader, scores))
    return tuple(gates)


def _parse_gate(reader: _Scanner, scores: Callable[[], Iterable[str]]) -> Gate:
    start = reader.column
    figure = reader.take(_NAME_PATTERN.pattern, f"a figure: {', '.join(FIGURES)}")[0]
    if figure not in FIGURES and figure not in scores():
        raise reader.error(f"{figure!r} is no figure; {_suggestion(figure, [*scores()])}", start)
    kind = figure_named(figure).kind
    if kind == "chance":
        return _parse_test(reader, figure, start)
    scope = _parse_scope(reader)
    sign = reader.take("|".join(SIGNS), f"one of {' '.join(SIGNS)}")[0]
    at = reader.column
    found = reader.take(_BOUND_PATTERN.pattern, "a number")
    bound, share = _parse_bound(reader, found, kind, at)
    return Gate(reader.text[start : reader.place].strip(), figure, sign, bound, share, scope)


def _parse_test(reader: _Scanner, figure: str, start: int) -> Gate:
    """A test holds where chance alone may have it so."""
    at = reader.column
    level = reader.take(r"\( *(0\.\d{1,12}) *\)", "a level in brackets, such as (0.05),")[1]
    if float(level) == 0:
        raise reader.error("a level above 0 is wanted, such as (0.05)", at)
    scope = _parse_scope(reader)
    return Gate(reader.text[start : reader.place], figure, ">", float(level), scope=scope)


def _parse_scope(reader: _Scanner) -> tuple[str, ...]:
    at = reader.column
    if not reader.sees("["):
        return ()
    names = tuple(name.strip() for name in reader.take(r"\[([^]]*)\]", "a `]` after the name")[1].split(","))
    if not all(names):
        raise reader.error("a category, a tag, a suite or a model is wanted between the brackets", at)
    return names


def _parse_bound(reader: _Scanner, found: re.Match[str], kind: FigureKind, at: int) -> tuple[Number, bool]:
    """The bound, and whether it is the share of a count."""
    number, unit = Fraction(found["number"]), found["unit"] or ""
    if found["dollar"] and kind != "dollars":
        raise reader.error("only cost is in dollars", at)
    if kind == "seconds":
        if unit not in _SECONDS:
            raise reader.error(f"a time is wanted: {found['number']}s or {found['number']}ms", at)
        return float(found["number"]) * _SECONDS[unit], False
    if unit not in (("", "%") if kind != "dollars" else ("",)):
        raise reader.error(f"{unit!r} is no unit here", at + found.start("unit") - found.start())
    if kind == "dollars":
        return float(found["number"]), False
    number = number / 100 if unit else number
    if kind == "share" or unit:
        if number > 1:
            raise reader.error(f"nothing is more than 100 %: 0.9 and 90% are the same, and {found[0]} is not", at)
        return number, kind == "count"
    if number.denominator != 1:
        raise reader.error("a whole number is wanted, or a share in percent", at)
    return number, False


def _suggestion(word: str, scores: Collection[str]) -> str:
    known = (*FIGURES, *scores)
    near = [_SYNONYMS[word.lower()]] if word.lower() in _SYNONYMS else get_close_matches(word, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known are {', '.join(FIGURES)}" + (", and the scores that a summary tells" if scores else "")


@dataclass(slots=True)
class _Scanner:
    """Takes a text from left to right; spaces between its parts do not matter."""

    text: str
    place: int = 0

    @property
    def column(self) -> int:
        """Where the next part begins."""
        rest = self.text[self.place :]
        return self.place + len(rest) - len(rest.lstrip())

    @property
    def is_at_end(self) -> bool:
        return self.column == len(self.text)

    def sees(self, text: str) -> bool:
        return self.text.startswith(text, self.column)

    def take(self, pattern: str, what: str) -> re.Match[str]:
        """Take what fits; `what` is wanted, for the message."""
        found = re.compile(pattern).match(self.text, self.column)
        if found is None:
            raise self.error(f"{what} is wanted here", self.column)
        self.place = found.end()
        return found

    def error(self, message: str, column: int) -> GateError:
        return GateError(self.text, column, message)
