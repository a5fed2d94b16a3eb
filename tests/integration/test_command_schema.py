from __future__ import annotations

import json
from pathlib import Path

from jsonschema_rs import Draft202012Validator, meta

from tests.integration.command import fcall, fcall_here


def test_the_schema_is_printed(tmp_path: Path) -> None:
    done = fcall_here(tmp_path, "schema")
    assert (done.returncode, done.stderr) == (0, "")
    schema = json.loads(done.stdout)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert meta.is_valid(schema)


def test_the_schema_is_written_to_a_file(tmp_path: Path) -> None:
    done = fcall_here(tmp_path, "schema", "-o", "cases.schema.json")
    assert (done.returncode, done.stderr) == (0, "")
    written = (tmp_path / "cases.schema.json").read_text(encoding="utf-8")
    assert written == fcall_here(tmp_path, "schema").stdout


def test_it_accepts_what_init_writes(tmp_path: Path) -> None:
    import yaml

    fcall(tmp_path, "init")
    schema = json.loads(fcall_here(tmp_path, "schema").stdout)
    cases = yaml.safe_load((tmp_path / "cases/first.fc.yaml").read_text(encoding="utf-8"))
    assert Draft202012Validator(schema).is_valid(cases)
    cases["cases"][0]["promt"] = "?"
    assert not Draft202012Validator(schema).is_valid(cases)


def test_operators_and_tool_sources_of_a_conftest_can_be_named(tmp_path: Path) -> None:
    schema = json.loads(fcall_here(tmp_path, "schema", "--operator=iban", "--tool-source=graphql").stdout)
    case = {"id": "a", "prompt": "Pay.", "expect": [{"pay": {"to": {"$iban": "DE"}}}]}
    file = {"tools": [{"graphql": "schema.graphql"}], "cases": [case]}
    assert Draft202012Validator(schema).is_valid(file)
    assert not Draft202012Validator(json.loads(fcall_here(tmp_path, "schema").stdout)).is_valid(file)


def test_that_of_run_files_is_the_published_one(tmp_path: Path) -> None:
    published = Path(__file__).parents[2] / "docs/reference/run-file.schema.json"
    assert fcall_here(tmp_path, "schema", "run").stdout == published.read_text(encoding="utf-8")


def test_options_for_case_files_are_refused_for_run_files(tmp_path: Path) -> None:
    done = fcall_here(tmp_path, "schema", "run", "--operator=iban")
    assert done.returncode == 2
    assert "--operator, --tool-source and --relation are for case files" in done.stderr


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    done = fcall_here(tmp_path, "schema", "-o", "missing/cases.schema.json")
    assert done.returncode == 2
    assert "fcall schema: error: cannot write missing/cases.schema.json: " in done.stderr
