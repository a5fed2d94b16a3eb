from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from jsonschema_rs import Draft202012Validator, meta

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep, account_to_json
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.result_json import results_to_json
from pytest_fcall.reporting.results import Results
from pytest_fcall.session.result.run_schema import run_schema
from pytest_fcall.tracking.run_file import RunFile, run_data
from tests.run_schema import closed, objects
from tests.unit.reporting.reports.examples import report, reports, result

REFERENCE = Path(__file__).parents[4] / "docs" / "reference"
SCHEMA: dict[str, Any] = run_schema()
FIELDS = {name: each["properties"] for name, each in SCHEMA["$defs"].items()}
CLOSED = Draft202012Validator(closed(SCHEMA))


def data_of(made: Report) -> Any:
    results: dict[str, Any] = results_to_json(made.results)
    run = RunFile(id=made.id, started=made.started, results=results | {"results": [*results["results"]]})
    return json.loads(json.dumps(run_data(run)))


def test_the_schema_is_one_and_the_published_file_is_it() -> None:
    assert meta.is_valid(SCHEMA)
    published = json.loads((REFERENCE / "run-file.schema.json").read_text(encoding="utf-8"))
    assert published == SCHEMA, "run: fcall schema run -o docs/reference/run-file.schema.json"


@given(reports())
def test_any_results_fit_the_closed_schema(made: Report) -> None:
    CLOSED.validate(data_of(made))


def test_each_field_of_the_schema_is_written() -> None:
    data = data_of(report(result()))
    assert data.keys() == SCHEMA["properties"].keys()
    assert data["results"].keys() == SCHEMA["properties"]["results"]["properties"].keys()
    assert data["results"]["results"][0].keys() == FIELDS["result"].keys()
    account: Any = account_to_json(Account("n", (AccountAnswer(True, (AskedStep(()),)),)))
    assert account.keys() == FIELDS["account"].keys()
    assert account["answers"][0].keys() == FIELDS["answer"].keys()
    assert {*AskedStep._fields} == FIELDS["step"].keys()


@pytest.mark.parametrize("status", ["right", "", None])
def test_a_status_that_there_is_not_is_refused(status: str | None) -> None:
    data = data_of(report(result()))
    data["results"]["results"][0]["status"] = status
    assert not Draft202012Validator(SCHEMA).is_valid(data)


def test_fields_of_later_versions_are_taken_by_the_published_schema_alone() -> None:
    data = data_of(report(result(outcome=Outcome.OK)))
    data["results"]["results"][0]["later"] = 1
    assert Draft202012Validator(SCHEMA).is_valid(data)
    assert not CLOSED.is_valid(data)


def test_what_an_early_version_wrote_fits() -> None:
    early = {"nodeid": "n", "case": "a", "model": "m", "status": "passed", "stanza": {"calls": []}}
    assert Draft202012Validator(SCHEMA).is_valid(
        {"fcall_run": 1, "id": "1", "started": "", "results": {"results": [early]}}
    )


def test_the_page_names_each_field() -> None:
    page = (REFERENCE / "run-files.md").read_text(encoding="utf-8")
    named = {*re.findall(r"`([a-z_]+)`", page)}
    fields = {name for each in objects(SCHEMA) for name in each["properties"]}
    assert fields - named == set()


def test_each_field_is_described() -> None:
    undescribed = [
        name for each in objects(SCHEMA) for name, field in each["properties"].items() if not field.get("description")
    ]
    assert undescribed == []


def test_no_results_are_results() -> None:
    assert CLOSED.is_valid(data_of(report(results=Results())))
