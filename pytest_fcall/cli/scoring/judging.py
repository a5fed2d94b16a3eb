"""Portions of rows, judged by the judge of their format."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from pytest_fcall.cli.scoring.rows import Portion
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_lines import BrokenRow, record

Counted: TypeAlias = tuple[str, Mapping[str, bool]]
"""The name of a group of rows, and what is true of this one."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a row, and where the profiles judge it differently, how: in a word, with what tells of it.

    With `counted` it is told at the end of how many rows of its group each word is true.
    """

    verdict: Mapping[str, Json]
    difference: tuple[str, Mapping[str, Json]] | None = None
    counted: Counted | None = None


class Judge(Protocol):
    """Judges the rows of one format. Travels to other processes."""

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that name a row."""
        ...

    def earlier(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        """The verdict that a row brings along if it was judged before, or parts of it. Never looked at for judging."""
        ...

    def __call__(self, row: Mapping[str, Json]) -> Judgement:
        """Judge a row; BrokenRow says why that cannot be done."""
        ...


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one row.

    `line` is to be printed; with `broken` it says why there is no verdict. `compared` tells for each field of the
    verdict that the row brings along how the two differ, and None where they are the same.
    """

    place: str
    line: str
    broken: bool = False
    compared: Mapping[str, str | None] = field(default_factory=dict)
    difference: str | None = None
    difference_line: str = ""
    counted: Counted | None = None


@dataclass(frozen=True, slots=True)
class Judging:
    """What is done to a portion; an object, since work for other processes must be."""

    judge: Judge

    def __call__(self, portion: Portion) -> list[Judged]:
        """Judge the lines; empty ones are passed over."""
        return list(self._judged(portion))

    def _judged(self, portion: Portion) -> Iterator[Judged]:
        for number, line in enumerate(portion.lines, portion.first):
            if line.strip():
                yield self._line(f"{portion.file}:{number}", line)
        if portion.broken is not None:
            yield _broken(f"{portion.file}:{portion.first + len(portion.lines)}", portion.broken, {})

    def _line(self, place: str, line: bytes) -> Judged:
        row: Mapping[str, Json] = {}
        try:
            row = record(line)
            judgement = self.judge(row)
        except BrokenRow as error:
            return _broken(place, str(error), {key: row[key] for key in self.judge.names if key in row})
        verdict = judgement.verdict
        earlier = self.judge.earlier(row)
        compared = {key: _disagreement(key, verdict[key], earlier[key]) for key in verdict if key in earlier}
        if judgement.difference is None:
            return Judged(place, json.dumps(verdict), compared=compared, counted=judgement.counted)
        name, told = judgement.difference
        told_line = json.dumps({"place": place, **told})
        return Judged(place, json.dumps(verdict), False, compared, name, told_line, judgement.counted)


def nested(row: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """The object in a field of a row; an empty one where there is none."""
    found = row.get(name)
    return found if isinstance(found, Mapping) else {}


def _disagreement(key: str, now: Json, before: Json) -> str | None:
    return None if now == before else f"{key} is {json.dumps(now)}, the row has {json.dumps(before):.200}"


def _broken(place: str, why: str, named: Mapping[str, Json]) -> Judged:
    return Judged(place, json.dumps({**named, "error": f"{place}: {why}"}), broken=True)
