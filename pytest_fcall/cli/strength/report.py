"""The report of `fcall strength`, as text and as JSON: gaps, tables, and the figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Final

from pytest_fcall.cases.expectation_places import ExpectationPlaces, ExpectationTrail
from pytest_fcall.core.files import path_from_root
from pytest_fcall.core.message_text import list_text, plural_text
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.faults import file_path_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import table_lines
from pytest_fcall.strength.case_strength import Tally
from pytest_fcall.strength.figures import FileCase, Gap, StrengthFigure, SuiteStrength, mean_tally
from pytest_fcall.strength.mistakes.kinds import MISTAKES, weight
from pytest_fcall.strength.mutants import Mutant
from pytest_fcall.strength.readings import Looseness

_MOST_GAPS: Final = 10
_MOST_MISTAKES: Final = 4
_MOST_NAMED: Final = 5
_MOST_ROWS: Final = 12
_WHOLE: Final = 1 - 1e-9
_WIDEST: Final = 80


def report_lines(suite: SuiteStrength, root: Path, width: int, *, everything: bool) -> Iterator[str]:
    """The whole report but for its last line."""
    gaps = suite.gaps()
    places = _GapPlaces(root)
    shown = gaps if everything else gaps[:_MOST_GAPS]
    for gap in shown:
        yield from _gap_lines(gap, places, min(width, _WIDEST), everything=everything)
        yield ""
    if len(shown) < len(gaps):
        yield f"… and {plural_text(len(gaps) - len(shown), 'expectation')} more that let mistakes pass: see --all"
        yield ""
    yield from _tables(suite, root, width, everything=everything)
    yield from _remarks(suite, min(width, _WIDEST), everything=everything)


def _gap_lines(gap: Gap, places: _GapPlaces, width: int, *, everything: bool) -> Iterator[str]:
    written = " and ".join(cause.written for cause in gap.causes) or _without_cause(gap)
    cause = gap.causes[0] if gap.causes else None
    costs = f"costs {100 * gap.weight:.2f} points ({list_text([*gap.cases], _MOST_NAMED)})"
    head = safe_line(f"{places.text(gap, cause)}: {written} {costs}")
    yield from wrap(head, width, subsequent_indent="    ", break_on_hyphens=False)
    yield from _indented(f"lets pass: {_mistakes_text(gap.mutants, everything=everything)}", width)
    for number, each in enumerate(gap.causes):
        yield from _indented(f"{'and' if number else 'to notice them'}: {each.edit}", width)


def _without_cause(gap: Gap) -> str:
    suite = next(iter(gap.cases.values())).strength.case.suite
    return f"the rule of {suite}" if suite else "no single expectation"


def _mistakes_text(mutants: Sequence[Mutant], *, everything: bool) -> str:
    """Each kind of mistake with its first example: `number changed (minutes: 10 → 11)`."""
    by_mistake: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_mistake.setdefault(mutant.mistake, []).append(mutant)
    if everything:
        parts = [f"{each.mistake} ({each.place}: {each.detail})" for each in mutants]
    else:
        parts = [f"{name} ({group[0].place}: {group[0].detail})" for name, group in by_mistake.items()]
    rest = 0 if everything else len(parts) - _MOST_MISTAKES
    return "; ".join(parts if rest <= 0 else [*parts[:_MOST_MISTAKES], f"and {plural_text(rest, 'more kind')}"])


def _indented(text: str, width: int) -> list[str]:
    return wrap(safe_line(text), width, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False)


def _tables(suite: SuiteStrength, root: Path, width: int, *, everything: bool) -> Iterator[str]:
    if not suite.mutated:
        return
    titles = ["file", "cases", "mistakes", "noticed", "strength"]
    rows = [
        [path_from_root(file, root), str(len(cases)), *_row(_counted(cases), mean_tally(cases))]
        for file, cases in suite.by_file().items()
    ]
    yield from table_lines(titles, rows, 1, width)
    yield ""
    tools = sorted(suite.by_tool().items(), key=lambda item: (StrengthFigure.of(item[1]).low, item[0]))
    weak_tools = [
        [tool or "(no tool)", _figure_text(StrengthFigure.of(tally))]
        for tool, tally in tools
        if everything or StrengthFigure.of(tally).low < _WHOLE
    ]
    yield from _weakest(["tool", "strength"], weak_tools, width, everything=everything)
    cases = sorted(suite.mutated, key=lambda each: StrengthFigure.of(each.strength.tally).low)
    weak_cases = [
        [each.strength.case.id, *_row(each.strength.counts, each.strength.tally)]
        for each in cases
        if everything or StrengthFigure.of(each.strength.tally).low < _WHOLE
    ]
    yield from _weakest(["case", "mistakes", "noticed", "strength"], weak_cases, width, everything=everything)


def _weakest(titles: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, everything: bool) -> Iterator[str]:
    """A table of what is weak, the weakest first; nothing where nothing is."""
    shown = rows if everything else rows[:_MOST_ROWS]
    if not shown:
        return
    yield from table_lines(titles, shown, 1, width)
    if len(shown) < len(rows):
        yield f"… and {len(rows) - len(shown):,} more below 100 %: see --all"
    yield ""


def _row(counts: Tally, tally: Tally) -> list[str]:
    return [f"{counts.whole:,.0f}", f"{counts.caught:,.0f}", _figure_text(StrengthFigure.of(tally))]


def _counted(cases: Sequence[FileCase]) -> Tally:
    return sum((each.strength.counts for each in cases), Tally())


def _remarks(suite: SuiteStrength, width: int, *, everything: bool) -> Iterator[str]:
    """Cases that are not measured, that contradict themselves, or of which only a run decides."""
    for each in suite.cases:
        if each.strength.contradiction:
            name = f"{each.strength.case.location.path}:{each.strength.case.location.line}: {each.strength.case.id}"
            text = f"{name} refuses an answer that should be right: {each.strength.contradiction}"
            yield from wrap(safe_line(text), width, subsequent_indent="    ")
    reasons: dict[str, list[str]] = {}
    for each in suite.cases:
        if each.strength.unmeasured_reason:
            reasons.setdefault(f"not measured, as {each.strength.unmeasured_reason}", []).append(each.strength.case.id)
        if each.strength.undecided_by:
            parts = " and ".join(f"`{part}`" for part in each.strength.undecided_by)
            count = plural_text(round(each.strength.counts.undecided), "mistake")
            reasons.setdefault(f"{count} undecided: {parts} may notice, in a run", []).append(each.strength.case.id)
        if each.strength.bounded:
            reasons.setdefault("more mistakes are possible than are judged", []).append(each.strength.case.id)
    for reason, cases in reasons.items():
        most = len(cases) if everything else _MOST_NAMED
        yield from wrap(safe_line(f"{list_text(cases, most)}: {reason}"), width, subsequent_indent="    ")


def last_line(suite: SuiteStrength) -> str:
    """The figure with its counts, in one line."""
    counts = suite.counts
    same = sum(each.strength.same for each in suite.mutated)
    left_open = sum(each.strength.left_open for each in suite.mutated)
    parts = [f"{counts.caught:,.0f} of {plural_text(round(counts.whole), 'mistake')} noticed"]
    parts += [f"{counts.undecided:,.0f} undecided"] if counts.undecided else []
    parts += [f"{same:,} mean the same"] if same else []
    parts += [f"{left_open:,} left open by rules"] if left_open else []
    unmeasured = len(suite.cases) - len(suite.mutated)
    parts += [f"{plural_text(unmeasured, 'case')} not measured"] if unmeasured else []
    where = plural_text(len(suite.mutated), "case")
    return f"strength {_figure_text(StrengthFigure.of(suite.tally))} of {where}: {', '.join(parts)}"


def report_json(suite: SuiteStrength, root: Path) -> dict[str, Json]:
    """The figures, and every survivor with what lets it pass."""
    places = _GapPlaces(root)
    return {
        **_figure_data(suite.tally),
        "mistakes": _counts_data(suite.counts),
        "files": [
            {"file": path_from_root(file, root), "cases": len(cases), **_figure_data(mean_tally(cases))}
            for file, cases in suite.by_file().items()
        ],
        "tools": [{"tool": tool, **_figure_data(tally)} for tool, tally in sorted(suite.by_tool().items())],
        "cases": [_case_data(each, root) for each in suite.cases],
        "gaps": [_gap_data(gap, places) for gap in suite.gaps()],
        "kinds": {name: {"meaning": meaning, "weight": weight(name)} for name, meaning in MISTAKES.items()},
    }


def _figure_data(tally: Tally) -> dict[str, Json]:
    figure = StrengthFigure.of(tally)
    if figure.value is None:
        return {"strength": None}
    return {"strength": round(figure.value, 6), "low": round(figure.low, 6), "high": round(figure.high, 6)}


def _counts_data(counts: Tally) -> dict[str, Json]:
    return {
        "noticed": round(counts.caught),
        "survived": round(counts.survived),
        "undecided": round(counts.undecided),
    }


def _case_data(each: FileCase, root: Path) -> dict[str, Json]:
    found = each.strength
    named: dict[str, Json] = {
        "file": path_from_root(each.file, root),
        "line": found.case.location.line,
        "case": found.case.id,
    }
    if found.contradiction:
        return named | {"strength": None, "contradiction": found.contradiction}
    if found.unmeasured_reason:
        return named | {"strength": None, "not_measured": found.unmeasured_reason}
    rest = {"same": found.same, "left_open_by_rules": found.left_open, "bounded": found.bounded}
    undecided: dict[str, Json] = {"undecided_by": list(found.undecided_by)} if found.undecided_by else {}
    return named | _figure_data(found.tally) | {"mistakes": _counts_data(found.counts), **rest, **undecided}


def _gap_data(gap: Gap, places: _GapPlaces) -> dict[str, Json]:
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


class _GapPlaces:
    """The places of gaps in case files."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._places = ExpectationPlaces(root)

    def text(self, gap: Gap, cause: Looseness | None) -> str:
        """A place such as `cases/shop.fc.yaml:14`."""
        case = next(iter(gap.cases.values())).strength.case
        location = case.location
        if cause is not None and not case.suite:
            location = self._places.location(gap.file, case, _trail(cause))
        return f"{file_path_text(location, self._root)}:{location.line}"


def _trail(cause: Looseness) -> ExpectationTrail:
    at = cause.place
    path = (cause.rule,) if at.part == "match" else at.path
    return ExpectationTrail(at.part, at.turn, at.alternative, at.call, path)


def _figure_text(figure: StrengthFigure) -> str:
    """A figure, with its range where something is undecided."""
    if figure.value is None:
        return "-"
    if figure.high - figure.low < 1e-9:
        return _percent_text(figure.value)
    return f"{_percent_text(figure.value)} ({_percent_text(figure.low)} to {_percent_text(figure.high)})"


def _percent_text(share: float | None) -> str:
    """Write `93.8 %`. Only if all is noticed it is 100.0 %."""
    if share is None:
        return "-"
    percent = 100 * share
    return f"{min(percent, 99.9) if share < 1 - 1e-9 else 100.0:.1f} %"
