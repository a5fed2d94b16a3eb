"""Whether run files and accounts have the fields of their published schema, and no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator

from pytest_fcall.core.json_data import read_json
from pytest_fcall.session.result.run_schema import run_schema
from pytest_fcall.tracking.run_accounts import accounts_path, read_account_lines


def faults_of_run(path: Path) -> list[str]:
    """What the closed schema has against a run file and the accounts beside it."""
    run, lines = _validators()
    faults = [*run.iter_errors(read_json(path.read_bytes()))]
    for line in read_account_lines(accounts_path(path)):
        faults += lines["account" if "nodeid" in line else "tool" if "tool" in line else "tools"].iter_errors(line)
    return [f"{'/'.join(map(str, fault.instance_path))}: {fault.message}" for fault in faults]


def closed(schema: Any) -> Any:
    """The schema without room for fields that it does not name."""
    if isinstance(schema, Mapping):
        found = {name: closed(value) for name, value in schema.items()}
        is_object = "properties" in found and found.get("type") == "object"
        return found | ({"additionalProperties": False} if is_object else {})
    return [closed(each) for each in schema] if isinstance(schema, list) else schema


def objects(schema: Any) -> Iterator[Mapping[str, Any]]:
    """All objects of the schema that have fields."""
    if isinstance(schema, Mapping):
        if "properties" in schema and schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects(value)
    if isinstance(schema, list):
        for each in schema:
            yield from objects(each)


@cache
def _validators() -> tuple[Draft202012Validator, Mapping[str, Draft202012Validator]]:
    schema = closed(run_schema())
    shared = {"$schema": schema["$schema"], "$defs": schema["$defs"]}
    lines = {name: Draft202012Validator({**shared, "$ref": f"#/$defs/{name}"}) for name in ("account", "tool", "tools")}
    return Draft202012Validator(schema), lines
