"""The projects of examples/, as far as this environment goes; `make test-examples` installs and runs all of them."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.integration.command import fcall, run_pytest
from tests.pages import ROOT

EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/pyproject.toml"))
OF_MODELS = {"mcp-server": (9, 3), "two-local-models": (39, 15)}
"""The examples whose cases need no app, with the numbers of passed cases and of known failures."""
INCONCLUSIVE = 10


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.name)
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", ".fcall", ".venv", "*.egg-info", "models")
    return Path(shutil.copytree(request.param, tmp_path / request.param.name, ignore=ignored))


def of_models(*examples: str) -> pytest.MarkDecorator:
    chosen = [path for path in EXAMPLES if path.name in examples]
    return pytest.mark.parametrize("example", chosen, ids=lambda path: path.name, indirect=True)


def test_its_cases_have_no_fault(example: Path) -> None:
    done = fcall(example, "lint")
    assert (done.returncode, "no faults" in done.stdout) == (0, True), done.stdout


def test_it_has_all_that_a_copy_needs(example: Path) -> None:
    project = tomllib.loads((example / "pyproject.toml").read_text("utf-8"))
    (test,) = project["project"]["optional-dependencies"]["test"]
    assert test.startswith("pytest-fcall")
    for name in ("README.md", "report.md", ".gitignore", ".github/workflows/tool-calls.yml"):
        assert (example / name).is_file(), name
    for kind in ("replies.jsonl", "recorded.jsonl", "accepted", "measured.jsonl"):
        assert list(example.glob(f"cases/__fcall__/*/*.{kind}")), kind


def test_no_reply_pretends_to_be_a_providers(example: Path) -> None:
    answered = {
        str(row["reply"].get("engine", {}).get("model", "smollm2"))
        for path in example.glob("cases/__fcall__/*/*.recorded.jsonl")
        for row in map(json.loads, path.read_text("utf-8").splitlines())
        if "reply" in row
    }
    assert answered
    assert [name for name in answered if "smollm2" not in name.casefold()] == []


@of_models(*OF_MODELS)
def test_its_recorded_replies_are_green(example: Path) -> None:
    done = run_pytest(example, "-p", "no:cacheprovider", CI="true")
    passed, known = OF_MODELS[example.name]
    assert done.returncode == 0, done.stdout
    assert f"{passed} passed, {known} xfailed" in done.stdout


@of_models("mcp-server")
def test_another_description_of_a_tool_needs_other_replies(example: Path) -> None:
    change(example / "cases/jukebox.tools.lock.json", "Play a song now.", "Start a song.")
    done = run_pytest(example, "-p", "no:cacheprovider")
    assert done.returncode == INCONCLUSIVE, done.stdout
    assert "pytest --fc-live && fcall record --export" in done.stdout


@of_models("two-local-models")
def test_a_wrong_answer_fails_although_the_gates_hold(example: Path) -> None:
    change(example / "cases/home.fc.yaml", "{$approx: 21, within: 1}", "25")
    done = run_pytest(example, "-p", "no:cacheprovider")
    assert done.returncode == 1, done.stdout
    assert "1 failed" in done.stdout


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")
