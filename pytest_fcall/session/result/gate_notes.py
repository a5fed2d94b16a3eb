"""The notes in the line of a gate: what failed, what was left out, and how small a drop it sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

from pytest_fcall.reporting.number_text import interval_text, p_equation_text, plural_text
from pytest_fcall.tracking.gates import GateVerdict
from pytest_fcall.tracking.slices import Slice, SliceTests

_MOST_NAMED = 3
"""At most so many parts of a run are named."""


def gate_note(verdict: GateVerdict) -> str:
    """The note on a verdict; empty where there is nothing to say."""
    return "; ".join(filter(None, _notes(verdict)))


def _notes(verdict: GateVerdict) -> Iterator[str]:
    yield verdict.missing_reason
    measured = verdict.measured
    if verdict.gate.kind == "chance":
        if verdict.held is False:
            yield _listed(_worse_text(*each) for each in measured.tests.worse)
        elif verdict.held:
            yield f"sees {_visible_text(measured.tests)}"
        yield _left_out_text(measured.edited, measured.unmeasured)
    elif verdict.gate.figure == "strength" and measured.strength is not None and measured.unmeasured_strength:
        yield f"{plural_text(measured.unmeasured_strength, 'case')} not measured"
    elif verdict.gate.figure == "recovery" and measured.faulty:
        yield f"{measured.recovered:,} of {measured.faulty:,}, {interval_text(measured.recovered, measured.faulty)}"
    elif verdict.gate.figure == "fragility":
        fragile = [each for each in measured.flips if each.word == "fragile"]
        yield _listed(f"{each.relation} flips {100 * each.rate:.1f} %" for each in fragile)
    elif verdict.gate.figure == "regressions":
        yield _left_out_text(measured.edited, 0)


def _worse_text(slice_: Slice, p_value: float) -> str:
    change = f"{100 * slice_.before:.1f} % → {100 * slice_.now:.1f} % right"
    return f"{slice_.name} {change}, {plural_text(len(slice_.pairs), 'case')}, {p_equation_text(p_value)}"


def _visible_text(tests: SliceTests) -> str:
    found = tests.visible_drops
    if len(found) == 1:
        return _drop_text(*found[0], name="")
    return _listed(_drop_text(each, drop, name=f" of {each.name}") for each, drop in found)


def _drop_text(slice_: Slice, drop: float | None, *, name: str) -> str:
    with_cases = f"with {plural_text(len(slice_.pairs), 'case')}{name}"
    return f"none {with_cases}" if drop is None else f"a drop of {_points_text(drop)} or more {with_cases}"


def _points_text(drop: float) -> str:
    """Never less than the drop: `7.5 points`, `24 points`."""
    tenths = ceil(round(1000 * drop, 6))
    points = f"{ceil(tenths / 10)}" if tenths >= 100 or tenths % 10 == 0 else f"{tenths / 10}"
    return "1 point" if points == "1" else f"{points} points"


def _left_out_text(edited: int, unmeasured: int) -> str:
    """`3 edited cases left out`, or `3 edited cases and 1 without a measurement left out`."""
    parts = [plural_text(edited, "edited case")] if edited else []
    if unmeasured:
        parts.append(f"{f'{unmeasured:,}' if edited else plural_text(unmeasured, 'case')} without a measurement")
    return f"{' and '.join(parts)} left out" if parts else ""


def _listed(texts: Iterable[str]) -> str:
    found = list(texts)
    more = len(found) - _MOST_NAMED
    return "; ".join([*found[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])
