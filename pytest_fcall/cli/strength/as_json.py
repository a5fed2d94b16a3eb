"""The report of `fcall strength` as JSON."""

from __future__ import annotations

from pathlib import Path

from pytest_fcall.cli.project import relative_path
from pytest_fcall.cli.strength.text import GapPlaces
from pytest_fcall.core import Json
from pytest_fcall.strength.case_strength import Tally
from pytest_fcall.strength.figures import Figure, FileCase, Gap, SuiteStrength, mean_tally
from pytest_fcall.strength.mistakes.kinds import MISTAKES, weight


def report_json(suite: SuiteStrength, root: Path) -> dict[str, Json]:
    """The figures, and every survivor with what lets it pass."""
    places = GapPlaces(root)
    return {
        **_figure(suite.tally),
        "mistakes": _counts(suite.counts),
        "files": [
            {"file": relative_path(file, root), "cases": len(cases), **_figure(mean_tally(cases))}
            for file, cases in suite.by_file().items()
        ],
        "tools": [{"tool": tool, **_figure(tally)} for tool, tally in sorted(suite.by_tool().items())],
        "cases": [_case(each, root) for each in suite.cases],
        "gaps": [_gap(gap, places) for gap in suite.gaps()],
        "kinds": {name: {"meaning": meaning, "weight": weight(name)} for name, meaning in MISTAKES.items()},
    }


def _figure(tally: Tally) -> dict[str, Json]:
    figure = Figure.of(tally)
    if figure.value is None:
        return {"strength": None}
    return {"strength": round(figure.value, 6), "low": round(figure.low, 6), "high": round(figure.high, 6)}


def _counts(counts: Tally) -> dict[str, Json]:
    return {
        "noticed": round(counts.caught),
        "survived": round(counts.survived),
        "undecided": round(counts.undecided),
    }


def _case(each: FileCase, root: Path) -> dict[str, Json]:
    found = each.strength
    named: dict[str, Json] = {
        "file": relative_path(each.file, root),
        "line": found.case.location.line,
        "case": found.case.id,
    }
    if found.contradiction:
        return named | {"strength": None, "contradiction": found.contradiction}
    if found.why_not:
        return named | {"strength": None, "not_measured": found.why_not}
    rest = {"same": found.same, "left_open_by_rules": found.left_open, "bounded": found.bounded}
    undecided: dict[str, Json] = {"undecided_by": list(found.undecided_by)} if found.undecided_by else {}
    return named | _figure(found.tally) | {"mistakes": _counts(found.counts), **rest, **undecided}


def _gap(gap: Gap, places: GapPlaces) -> dict[str, Json]:
    return {
        "place": places.text(gap, gap.causes[0] if gap.causes else None),
        "cases": list(gap.cases),
        "expectations": [{"written": cause.written, "edit": cause.edit} for cause in gap.causes],
        "costs": round(gap.weight, 6),
        "mistakes": [
            {"mistake": each.mistake, "tool": each.tool, "place": each.place, "detail": each.detail}
            for each in gap.mutants
        ],
    }
