"""A report as JUnit XML, for whatever shows test results. pytest's own `--junitxml` knows one run and no merged one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from pytest_fcall.reporting.account import Account
from pytest_fcall.reporting.account_text import account_lines, answers_in_brief
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import UNICODE

_LONGEST: Final = 2000


def write(report: Report) -> Iterator[str]:
    """The XML: a suite for each file and model."""
    suites: dict[tuple[str, str], list[Result]] = {}
    for result in report.results.results:
        suites.setdefault((result.file, result.model), []).append(result)
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield f"<testsuites{_attributes({'name': f'fcall run {report.id}', **_counts(report.results.results)})}>\n"
    for (file, model), results in suites.items():
        name = f"{file} ({model})" if model else file
        numbers = {**_counts(results), "skipped": sum(_is_skipped(each) for each in results)}
        yield f"<testsuite{_attributes({'name': name, **numbers, 'timestamp': report.started, 'file': file})}>\n"
        yield from _properties({"fcall_run": report.id, "fcall_file": file, "fcall_model": model})
        for result in results:
            yield from _case(result, report)
        yield "</testsuite>\n"
    yield "</testsuites>\n"


def _counts(results: Sequence[Result]) -> dict[str, object]:
    return {
        "tests": len(results),
        "failures": sum(each.status == "failed" for each in results),
        "errors": sum(each.status == "error" for each in results),
        "time": f"{sum(each.seconds or 0 for each in results):.3f}",
    }


def _is_skipped(result: Result) -> bool:
    return result.status in ("skipped", "xfailed")


def _case(result: Result, report: Report) -> Iterator[str]:
    account = report.accounts.get(result.nodeid) or Account(result.nodeid)
    place = {"classname": result.file, "name": report.named(result), "file": result.file, "line": result.line}
    yield f"<testcase{_attributes({**place, 'time': f'{result.seconds or 0:.3f}'})}>\n"
    yield from _properties(_facts(result))
    if element := _element(result):
        text = "\n".join(account_lines(account, result, UNICODE))
        attributes = _attributes({"type": _type(result), "message": report.why(result)})
        yield f"<{element}{attributes}>{escape(text)}</{element}>\n"
    if result.answered and (calls := answers_in_brief(account.answers, UNICODE)):
        yield f"<system-out>{escape(chr(10).join(calls))}</system-out>\n"
    yield "</testcase>\n"


def _element(result: Result) -> str:
    if result.status in ("failed", "error"):
        return "failure" if result.status == "failed" else "error"
    return "skipped" if _is_skipped(result) else ""


def _type(result: Result) -> str:
    """The word of pytest for a failure that is expected; the outcome of another, or its first reason."""
    if result.status == "xfailed":
        return "pytest.xfail"
    kind = result.reasons[0][0] if result.reasons else result.status
    return result.outcome.value if result.outcome else kind


def _facts(result: Result) -> dict[str, object]:
    """Under the names that pytest's own file has them by."""
    return {
        "fcall_model": result.model,
        "fcall_category": result.category,
        "fcall_outcome": result.outcome.value if result.outcome else "",
        "fcall_tags": " ".join(result.tags),
        "fcall_cost": "" if result.cost is None else f"{result.cost:.6f}",
        "fcall_samples": "{}/{}".format(*result.samples) if result.samples else "",
        "fcall_reasons": ", ".join(result.reason_texts),
    }


def _properties(fields: Mapping[str, object]) -> Iterator[str]:
    yield "<properties>\n"
    for name, value in fields.items():
        if value != "":
            yield f"<property{_attributes({'name': name, 'value': value})}/>\n"
    yield "</properties>\n"


def _attributes(fields: Mapping[str, object]) -> str:
    return "".join(f" {name}={quoteattr(safe_line(str(value), _LONGEST))}" for name, value in fields.items())
