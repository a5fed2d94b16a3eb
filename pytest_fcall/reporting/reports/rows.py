"""A report as a table in CSV: a row for each answer of each case and model."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Final

from pytest_fcall.reporting.account import AccountAnswer
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import Result

_COLUMNS: Final = (
    "run",
    "file",
    "line",
    "case",
    "model",
    "category",
    "tags",
    "status",
    "outcome",
    "answer",
    "right",
    "reasons",
    "calls",
    "text",
    "seconds",
    "input_tokens",
    "output_tokens",
    "cost",
    "replayed",
)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Beginnings of texts that a spreadsheet would compute; in some countries wide signs, too."""


def write(report: Report) -> Iterator[str]:
    """The table, line by line. Seconds, tokens and cost are those of all answers of a case together."""
    yield csv_line(_COLUMNS)
    for result in report.results.results:
        account = report.accounts.get(result.nodeid)
        # Of a case without a verdict the account has the question alone.
        answers = account.answers if account and result.answered else ()
        for number, answer in enumerate(answers or (None,), 1):
            yield csv_line([report.id, *_case_cells(result), number if answer else "", *_answer_cells(result, answer)])


def _case_cells(result: Result) -> Iterator[object]:
    yield from (result.file, result.line, result.case, result.model, result.category, " ".join(result.tags))
    yield from (result.status, result.outcome.value if result.outcome else "")


def _answer_cells(result: Result, answer: AccountAnswer | None) -> Iterator[object]:
    if answer is None:
        yield from (int(result.right) if result.answered else "", _joined(kind for kind, _ in result.reasons), "", "")
    else:
        calls = [{call.name: call.arguments} for step in answer.steps for call in step.calls]
        yield from (int(answer.valid), _joined(kind for kind, _, _ in answer.reasons))
        yield json.dumps(calls, ensure_ascii=False, default=str) if calls else ""
        yield answer.steps[-1].text if answer.steps else ""
    yield from _measured_cells(result)


def _measured_cells(result: Result) -> Iterator[object]:
    usage = result.usage
    yield from (result.seconds, usage and usage.input_tokens, usage and usage.output_tokens, result.cost)
    yield int(result.replayed)


def _joined(names: Iterator[str]) -> str:
    return " ".join(dict.fromkeys(names))


def csv_line(cells: Sequence[object]) -> str:
    """A line of a table, of which a spreadsheet computes nothing."""
    text = io.StringIO()
    csv.writer(text).writerow(map(_cell, cells))
    return text.getvalue()


def _cell(value: object) -> object:
    """The value, which no spreadsheet takes for a formula; lone surrogates as escapes."""
    if not isinstance(value, str):
        return value
    written = value.encode("utf-8", "backslashreplace").decode()
    return f"'{written}" if written.startswith(_FORMULA) else written
