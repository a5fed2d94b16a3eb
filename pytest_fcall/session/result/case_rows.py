"""The results of a run as rows of a table, a row a case and a column a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pytest_fcall.core.verdict import Outcome
from pytest_fcall.reporting.account_text import brief_answer
from pytest_fcall.reporting.case_table import CaseCell, CaseRow, case_table
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import Marks
from pytest_fcall.tracking.stanza import parse_stanza

_MOST_DIFFERING = 10
_HOW_TO_SEE_ALL = "`fcall show --differing` lists all"


def case_lines(results: Sequence[Result], width: int, marks: Marks) -> list[str]:
    """All cases of these results in a table."""
    rows = [_row(of_case, _cell_with_outcome) for of_case in _by_case(results)]
    return case_table(rows, _models(results), width, marks) if rows else []


def differing_lines(
    results: Sequence[Result], width: int, marks: Marks, most: int | None = _MOST_DIFFERING
) -> list[str]:
    """The cases that some models answer rightly and others wrongly, at most so many; none where one was asked."""
    models = _models(results)
    if len(models) < 2:
        return []
    differing = [of_case for of_case in _by_case(results) if len({each.right for each in of_case if each.answered}) > 1]
    if not differing:
        return []
    shown = differing if most is None else differing[:most]
    more = len(differing) - len(shown)
    return [
        f"right by one model and wrong by another: {len(differing):,}",
        *(f"  {line}" for line in case_table([_row(of_case, _cell) for of_case in shown], models, width - 2, marks)),
        *([f"  and {more:,} more; {_HOW_TO_SEE_ALL}"] if more else []),
    ]


def _models(results: Iterable[Result]) -> list[str]:
    return list(dict.fromkeys(safe_line(result.model) for result in results if result.model))


def _by_case(results: Iterable[Result]) -> list[list[Result]]:
    found: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        found.setdefault((result.file, result.case), []).append(result)
    return [*found.values()]


def _row(results: Sequence[Result], cell: Callable[[Result], CaseCell]) -> CaseRow:
    return CaseRow(safe_line(results[0].case), {safe_line(result.model): cell(result) for result in results})


def _cell(result: Result) -> CaseCell:
    return CaseCell(result.right, _answer_text(result)) if result.answered else CaseCell(None, result.status)


def _cell_with_outcome(result: Result) -> CaseCell:
    plain = _cell(result)
    return plain if result.outcome in (None, Outcome.OK) else plain._replace(text=f"{result.outcome}: {plain.text}")


def _answer_text(result: Result) -> str:
    try:
        stanza = parse_stanza(result.stanza) if result.stanza else None
    except ValueError:
        stanza = None
    if stanza is None or stanza.calls is None:
        return "; ".join(dict.fromkeys(kind for kind, _ in result.reasons)) or "an answer that is not kept"
    return brief_answer(stanza.calls, stanza.answer or "")
