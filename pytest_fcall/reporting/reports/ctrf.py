"""A report in the Common Test Report Format (https://ctrf.io), for dashboards that read results of any test runner."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Outcome
from pytest_fcall.reporting.account import Account, AccountAnswer
from pytest_fcall.reporting.account_text import account_lines
from pytest_fcall.reporting.gates import verdict_word
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import laid_out, safe, safe_line
from pytest_fcall.reporting.terminal import UNICODE

_VERSION: Final = "0.0.0"
"""Of the specification: https://github.com/ctrf-io/ctrf/blob/main/spec/ctrf.md."""
_MOST_SECONDS: Final = 1e9
"""No case takes longer, whatever a file says."""
_STATUSES: Final = ("passed", "failed", "skipped", "pending", "other")


def write(report: Report) -> Iterator[str]:
    """The JSON: each case of each model is a test."""
    tests = [_test(result, report) for result in report.results.results]
    document: Json = {
        "reportFormat": "CTRF",
        "specVersion": _VERSION,
        "reportId": _uuid(f"run {report.id}"),
        "generatedBy": "pytest-fcall",
        "results": {
            "tool": _known({"name": "pytest-fcall", "version": _text(report.provenance.get("pytest_fcall"))}),
            "summary": _summary(report, tests),
            "tests": tests,
            "environment": _environment(report),
            "extra": _conclusions(report),
        },
    }
    yield json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _summary(report: Report, tests: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    counts = Counter(str(test["status"]) for test in tests)
    return {
        "tests": len(tests),
        **{status: counts[status] for status in _STATUSES},
        "flaky": sum(test.get("flaky") is True for test in tests),
        "start": round(report.moment.timestamp() * 1000),
        "stop": round(report.latest_end.timestamp() * 1000),
    }


def _test(result: Result, report: Report) -> dict[str, Json]:
    account, status = report.accounts.get(result.nodeid), _status(result)
    found: dict[str, Json] = {
        "id": _uuid(f"{result.nodeid}/{result.model}"),
        "name": safe_line(report.named(result)) or safe_line(result.nodeid),
        "status": status,
        "rawStatus": result.status,
        "duration": _milliseconds(result),
        "suite": [safe_line(each) for each in (result.file, result.category)],
        "filePath": safe_line(result.file),
        "line": result.line,
        "tags": [safe_line(tag) for tag in result.tags],
        "message": "" if status == "passed" else safe_line(report.why(result), 2000),
        "trace": "" if status == "passed" else _trace(account, result),
        **(_attempts(account.answers) if account and len(account.answers) > 1 else {}),
        "flaky": status == "passed" and result.flaky,
        "extra": _extra(result),
    }
    return _known(found)


def _status(result: Result) -> str:
    """A case that could not be judged is `other`, like a failure that is known: neither is right, nor fails the run."""
    match result.status:
        case "passed" | "xpassed":
            return "passed"
        case "failed":
            return "other" if result.outcome is Outcome.UNDECIDED else "failed"
        case "error":
            return "other" if result.no_reply else "failed"
        case "skipped":
            return "other" if result.no_reply else "skipped"
        case "xfailed":
            return "other"


def _trace(account: Account | None, result: Result) -> str:
    """Everything about the case, as `fcall show` prints it."""
    return "\n".join(account_lines(account or Account(result.nodeid), result, UNICODE))


def _attempts(answers: Sequence[AccountAnswer]) -> dict[str, Json]:
    """The answers to a case that was asked several times."""
    attempts: list[Json] = [
        _known(
            {
                "attempt": number,
                "status": "passed" if answer.valid else "failed",
                "message": safe_line(answer.reasons[0][2], 2000) if answer.reasons else "",
            }
        )
        for number, answer in enumerate(answers, 1)
    ]
    return {"retries": len(attempts) - 1, "retryAttempts": attempts}


def _extra(result: Result) -> dict[str, Json]:
    usage = result.usage
    return _known(
        {
            "model": safe_line(result.model),
            "category": safe_line(result.category),
            "outcome": result.outcome.value if result.outcome else "",
            "reasons": [safe_line(each) for each in result.reason_texts],
            "since": [safe(line) for line in result.since],
            "causes": [safe(line) for line in result.found_causes],
            "samples": [*result.samples] if result.samples else None,
            "cost": result.cost,
            "inputTokens": usage.input_tokens if usage else None,
            "outputTokens": usage.output_tokens if usage else None,
            "replayed": result.replayed,
        }
    )


def _environment(report: Report) -> dict[str, Json]:
    known = report.provenance
    return _known(
        {
            "reportName": f"run {safe_line(report.id)}",
            "commit": _text(known.get("commit")),
            "branchName": _text(known.get("branch")),
            "healthy": report.status == 0,
            "extra": _known({"python": _text(known.get("python")), "changed": known.get("dirty") is True}),
        }
    )


def _conclusions(report: Report) -> dict[str, Json]:
    gates: list[Json] = [{"gate": safe_line(gate.text), "verdict": verdict_word(gate)} for gate in report.gates]
    return _known(
        {
            "title": report.title,
            "exitStatus": report.status,
            "conclusions": [safe_line(each, 2000) for each in report.conclusions],
            "gates": gates,
            "gatesNotJudged": safe_line(report.unjudged) if report.data.get("gates") else "",
        }
    )


def _known(fields: Mapping[str, Json]) -> dict[str, Json]:
    """The fields that say something."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def _text(value: Json) -> str:
    return safe_line(value) if isinstance(value, str) else ""


def _uuid(name: str) -> str:
    """The same for the same name: the report of a run has the same bytes whenever it is written."""
    return str(uuid5(NAMESPACE_URL, f"pytest-fcall/{laid_out(name)}"))


def _milliseconds(result: Result) -> int:
    return round(min(result.seconds or 0, _MOST_SECONDS) * 1000)
