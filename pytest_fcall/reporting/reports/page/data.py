"""What the script of the page reads: a row for each result, and in packed portions what was asked and answered."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from pytest_fcall.core import Json
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep
from pytest_fcall.reporting.reports.report import EarlierRun, Report
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe, safe_line
from pytest_fcall.reporting.statistics import token_count
from pytest_fcall.reporting.transcript import content_text
from pytest_fcall.reporting.value_text import value_text

_PORTION: Final = 200
"""So many cases are packed together; a browser unpacks those that somebody opens."""
_LONGEST: Final = 50_000
"""Of longer texts the middle is left out."""
_LONGEST_VALUE: Final = 5_000


def data_of(report: Report) -> str:
    """The data as JSON that may stand in a page: it ends no element."""
    results = report.results.results
    data: dict[str, Json] = {
        "run": safe_line(report.id),
        "models": [safe_line(model) for model in dict.fromkeys(result.model for result in results)],
        "earlier": [safe_line(run.started) for run in report.earlier],
        "rows": _rows(report),
        "portion": _PORTION,
        "packed": [*_packed(report)],
    }
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _rows(report: Report) -> list[Json]:
    models = {model: place for place, model in enumerate(dict.fromkeys(each.model for each in report.results.results))}
    return [_row(result, models, report.earlier) for result in report.results.results]


def _row(result: Result, models: dict[str, int], earlier: Sequence[EarlierRun]) -> list[Json]:
    """The fields in the order in which the script names them."""
    right, asked = result.samples or (int(result.right), 1)
    return [
        safe_line(result.case),
        models[result.model],
        safe_line(result.file),
        result.line,
        result.status,
        result.outcome.value if result.outcome else "",
        safe_line(result.category),
        [safe_line(tag) for tag in result.tags],
        [*dict.fromkeys(safe_line(kind) for kind, _ in result.reasons)],
        [*dict.fromkeys(safe_line(name) for pair in result.called for name in pair if name)],
        result.seconds,
        result.cost,
        token_count(result.usage),
        [right, asked] if result.answered else None,
        [*result.before] if result.before else None,
        "".join(_letter(run, result) for run in earlier),
    ]


def _letter(run: EarlierRun, result: Result) -> str:
    """How the case ended in a run before: right, wrong, error, skipped; a dot where it was not part of it."""
    found = run.results.get(result.nodeid)
    letters = {"passed": "r", "xpassed": "r", "failed": "w", "xfailed": "w", "error": "e", "skipped": "s"}
    return letters[found.status] if found else "."


def _packed(report: Report) -> Iterator[str]:
    results = report.results.results
    for start in range(0, len(results), _PORTION):
        portion = [_detail(result, report) for result in results[start : start + _PORTION]]
        content = json.dumps(portion, separators=(",", ":")).encode()
        yield base64.b64encode(zlib.compress(content, 6)).decode()


def _detail(result: Result, report: Report) -> dict[str, Json]:
    account = report.accounts.get(result.nodeid)
    found: dict[str, Json] = {
        "node": safe_line(result.nodeid),
        "since": [safe(line, _LONGEST) for line in result.since],
        "causes": [safe(line, _LONGEST) for line in result.causes],
        **(_account(account) if account else {"lost": True}),
    }
    return {name: value for name, value in found.items() if value}


def _account(account: Account) -> dict[str, Json]:
    return {
        "error": safe(account.error, _LONGEST),
        "tools": [safe_line(tool) for tool in account.tools],
        "settings": [[safe_line(name), value_text(value, _LONGEST_VALUE)] for name, value in account.settings.items()],
        "shown": account.shown,
        "answers": [_answer(answer) for answer in account.answers],
    }


def _answer(answer: AccountAnswer) -> dict[str, Json]:
    found: dict[str, Json] = {
        "right": answer.valid,
        "reasons": [[safe_line(kind), safe_line(path), safe(text, _LONGEST)] for kind, path, text in answer.reasons],
        "notes": [safe(note, _LONGEST) for note in answer.notes],
        "steps": [_step(step) for step in answer.steps],
        "inside": [_step(step) for step in answer.inside],
    }
    return {name: value for name, value in found.items() if value or name == "right"}


def _step(step: AskedStep) -> dict[str, Json]:
    found: dict[str, Json] = {
        "model": safe_line(step.model),
        "messages": [
            [safe_line(str(message.get("role") or "")), safe(content_text(message.get("content")), _LONGEST)]
            for message in step.messages
        ],
        "calls": [
            [
                safe_line(call.name),
                [[safe_line(name), value_text(value, _LONGEST_VALUE)] for name, value in call.arguments.items()],
            ]
            for call in step.calls
        ],
        "results": [
            ["error", safe(each.error, _LONGEST)] if each.error is not None else ["", value_text(each.value, _LONGEST)]
            for each in step.results
        ],
        "text": safe(step.text, _LONGEST),
        "remark": safe(step.remark, _LONGEST),
    }
    return {name: value for name, value in found.items() if value}
