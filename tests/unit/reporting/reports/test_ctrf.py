from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep
from pytest_fcall.reporting.gates import JudgedGate
from pytest_fcall.reporting.reports.ctrf import write
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import Result
from tests.unit.reporting.reports.examples import HOSTILE, account, report, reports, result

TEXT, NUMBER, WORD = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "string", "minLength": 1}
STATUS = {"enum": ["passed", "failed", "skipped", "pending", "other"]}


def closed(required: str, **fields: object) -> dict[str, Any]:
    return {"type": "object", "required": required.split(), "properties": fields, "additionalProperties": False}


ATTEMPT = closed("attempt status", attempt={"type": "integer", "minimum": 1}, status=STATUS, message=TEXT)
TEST = closed(
    "name status duration",
    id={"type": "string", "format": "uuid"},
    name=WORD,
    status=STATUS,
    rawStatus=TEXT,
    duration=NUMBER,
    suite={"type": "array", "items": TEXT, "minItems": 1},
    filePath=TEXT,
    line={"type": "integer"},
    tags={"type": "array", "items": TEXT},
    message=TEXT,
    trace=TEXT,
    retries=NUMBER,
    retryAttempts={"type": "array", "items": ATTEMPT},
    flaky={"type": "boolean"},
    extra={"type": "object"},
)
SUMMARY = dict.fromkeys(("tests", *STATUS["enum"], "flaky", "start", "stop"), NUMBER)
ENVIRONMENT = {"reportName": TEXT, "commit": TEXT, "branchName": TEXT, "healthy": {"type": "boolean"}, "extra": {}}
FORMAT = closed(
    "reportFormat specVersion results",
    reportFormat={"const": "CTRF"},
    specVersion={"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
    reportId={"type": "string", "format": "uuid"},
    generatedBy=TEXT,
    results=closed(
        "tool summary tests",
        tool=closed("name", name=WORD, version=TEXT),
        summary=closed(" ".join(SUMMARY), **SUMMARY),
        tests={"type": "array", "items": TEST},
        environment=closed("", **ENVIRONMENT),
        extra={"type": "object"},
    ),
)
"""What https://ctrf.io asks for, in words of ours, of the fields that are written."""
VALIDATOR = jsonschema_rs.Draft202012Validator(FORMAT, validate_formats=True)


def written(made: Report) -> dict[str, Any]:
    data: dict[str, Any] = json.loads("".join(write(made)).encode())
    VALIDATOR.validate(data)
    return {**data["results"], "reportId": data["reportId"]}


def only_test(one: Result, **fields: object) -> dict[str, Any]:
    (test,) = written(report(one, **fields))["tests"]
    found: dict[str, Any] = test
    return found


@given(reports())
def test_each_result_is_a_test_and_all_are_counted(made: Report) -> None:
    found = written(made)
    summary, tests = found["summary"], found["tests"]
    assert len(tests) == summary["tests"] == len(made.results.results)
    for status in STATUS["enum"]:
        assert summary[status] == sum(test["status"] == status for test in tests)
    assert summary["stop"] >= summary["start"]


@pytest.mark.parametrize(
    ("one", "status"),
    [
        (result(status="passed"), "passed"),
        (result(status="xpassed"), "passed"),
        (result(), "failed"),
        (result(outcome=Outcome.REGRESSED), "failed"),
        (result(outcome=Outcome.UNDECIDED), "other"),
        (result(status="xfailed", outcome=Outcome.KNOWN_FAILURE), "other"),
        (result(status="error"), "failed"),
        (result(status="error", no_reply=True), "other"),
        (result(status="skipped"), "skipped"),
        (result(status="skipped", no_reply=True), "other"),
    ],
)
def test_what_is_not_right_is_never_passed(one: Result, status: str) -> None:
    test = only_test(one)
    assert (test["status"], test["rawStatus"]) == (status, one.status)


def test_a_test_has_its_place_its_reason_and_all_that_was_said() -> None:
    wrong = result(line=7, tags=("smoke",), seconds=0.25, cost=0.5, outcome=Outcome.REGRESSED)
    test = only_test(wrong, accounts={wrong.nodeid: account(wrong.nodeid, "Sunny.")})
    assert (test["filePath"], test["line"], test["tags"], test["duration"]) == ("cases/a.fc.yaml", 7, ["smoke"], 250)
    assert test["message"] == "Sunny."
    assert "cases/a.fc.yaml:7 a (m): wrong, regressed" in test["trace"]
    assert {"model": "m", "outcome": "regressed", "cost": 0.5}.items() <= test["extra"].items()


def test_answers_to_a_case_are_attempts_and_a_case_that_passed_by_some_is_flaky() -> None:
    sampled = result(status="passed", samples=(1, 2))
    answers = (AccountAnswer(False, (AskedStep(()),), (("no_call", "calls", "None."),)), AccountAnswer(True, ()))
    found = written(report(sampled, accounts={sampled.nodeid: Account(sampled.nodeid, answers)}))
    (test,) = found["tests"]
    assert test["retryAttempts"] == [
        {"attempt": 1, "status": "failed", "message": "None."},
        {"attempt": 2, "status": "passed"},
    ]
    assert (test["retries"], test["flaky"], found["summary"]["flaky"]) == (1, True, 1)
    assert only_test(result(samples=(1, 2)))["flaky"] is False


def test_a_case_has_the_same_id_in_each_run_and_a_run_the_same_one_always() -> None:
    ids = [only_test(one, id=run)["id"] for one in (result(), result(model="n")) for run in "12"]
    assert ids[0] == ids[1] != ids[2] == ids[3]
    assert written(report())["reportId"] == written(report())["reportId"] != written(report(id="2"))["reportId"]


def test_the_environment_and_the_gates_are_told() -> None:
    known = {"commit": "abc", "branch": "main", "dirty": True, "python": "3.13.1", "pytest_fcall": "0.1.0"}
    gates = [JudgedGate("accuracy>=0.9", "share", 0.4, 0.9, False)]
    found = written(report(provenance=known, gates=gates))
    assert found["tool"] == {"name": "pytest-fcall", "version": "0.1.0"}
    assert found["environment"] == {
        "reportName": "run 20260102-030405-0000",
        "commit": "abc",
        "branchName": "main",
        "healthy": False,
        "extra": {"python": "3.13.1", "changed": True},
    }
    assert found["extra"]["gates"] == [{"gate": "accuracy>=0.9", "verdict": "does not hold"}]
    assert found["summary"]["start"] == 1767323045000


@pytest.mark.parametrize("started", ["", "soon", "2026-13-01"])
def test_a_run_without_a_time_began_in_1970(started: str) -> None:
    assert written(report(started=started))["summary"]["start"] == 0


def test_numbers_that_make_no_sense_are_written() -> None:
    late, long = "9999-12-31T23:59:59-23:00", result(seconds=1e308)
    assert written(report(long, long, started=late))["summary"]["stop"] == 0
    assert written(report(long, started="9999-12-31"))["summary"]["stop"] > 0


def test_text_from_outside_is_text_that_every_reader_takes() -> None:
    flood = "x" * 1_000_000 + HOSTILE
    wrong = result(flood, since=(flood,), causes=(flood,), tags=(flood,), file=flood, model=flood)
    text = "".join(write(report(wrong, accounts={wrong.nodeid: account(wrong.nodeid, flood)})))
    assert len(text.encode("utf-8", "strict")) < 150_000
    assert "\x1b" not in text
    assert "\\u001b" not in text
