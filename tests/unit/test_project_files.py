"""The files by which the project is known elsewhere: workflows, forms, and what says its version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.pages import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
TARGETS = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


JOBS = [pytest.param(job, id=f"{path.name}: {name}") for path in WORKFLOWS for name, job in read(path)["jobs"].items()]


@pytest.mark.parametrize("job", JOBS)
def test_each_target_that_a_workflow_makes_is_there(job: Any) -> None:
    commands = "\n".join(step.get("run", "") for step in job["steps"])
    made = set(re.findall(r"\bmake ([a-z][\w-]*)", commands))
    if 'make "$CHECK"' in commands:
        made.update(job["strategy"]["matrix"]["check"])
    assert made <= TARGETS


@pytest.mark.parametrize("job", JOBS)
def test_no_job_goes_on_for_ever_or_keeps_a_token(job: Any) -> None:
    assert 0 < job["timeout-minutes"] < 360
    for step in job["steps"]:
        if "checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


def test_the_gate_makes_nothing_that_the_workflows_leave_out() -> None:
    gate = (ROOT / ".ci/run").read_text("utf-8")
    made = {word for line in gate.splitlines() if line.startswith("make ") for word in line.split()} & TARGETS
    workflow = (ROOT / ".github/workflows/tests.yml").read_text("utf-8")
    assert made
    assert {target for target in made if not re.search(rf"\b{target}\b", workflow)} == set()


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_for_what_reproduces_the_problem(path: Path) -> None:
    form = read(path)
    fields = [each for each in form["body"] if each["type"] != "markdown"]
    assert {"name", "description", "labels", "body"} <= form.keys()
    assert len({each["id"] for each in fields}) == len(fields)
    assert any(each.get("validations", {}).get("required") for each in fields)


def test_all_places_name_the_same_version_and_licence() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]


def test_owners_own_files_that_are_there() -> None:
    lines = (ROOT / ".github/CODEOWNERS").read_text("utf-8").splitlines()
    paths = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert [path for path in paths if not (ROOT / path.lstrip("/")).exists()] == []
