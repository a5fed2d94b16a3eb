"""The workflows of the documentation, and the action, as actionlint and shellcheck read them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import copytree, which
from typing import Any

import pytest
import yaml

from tests.pages import ROOT, Block, blocks_of

if None in map(which, ("actionlint", "shellcheck", "zizmor")):
    pytest.skip("actionlint, shellcheck and zizmor are installed by `make test-workflows`", allow_module_level=True)

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOWS = [
    pytest.param(block, id=block.id)
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    for block in blocks_of(page)
    if block.path and block.path.startswith(".github/workflows/")
]
PUBLISHED = "pytest-fcall/pytest-fcall@v1"
"""By this name workflows use the action. Nobody can look it up here, so it is put beside the workflow."""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / ".github/workflows").mkdir(parents=True)
    (tmp_path / "action.yml").write_bytes((ROOT / "action.yml").read_bytes())
    copytree(ROOT / "action", tmp_path / "action")
    return tmp_path


def complaints(repository: Path, workflow: str) -> str:
    (repository / ".github/workflows/tried.yml").write_text(workflow, encoding="utf-8")
    done = subprocess.run(
        ["actionlint", "-no-color", "-oneline", "-shellcheck=shellcheck", "-pyflakes="],
        cwd=repository,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.parametrize("block", WORKFLOWS)
def test_a_workflow_of_the_documentation_is_one(block: Block, repository: Path) -> None:
    assert complaints(repository, block.text.replace(PUBLISHED, "./")) == ""


def test_the_action_is_one(repository: Path) -> None:
    assert complaints(repository, workflow([{"uses": "./"}])) == ""


def test_the_steps_of_the_action_are_those_of_a_job(repository: Path) -> None:
    """An action is read with less care than a workflow: expressions, conditions and programs are passed over."""
    inputs = {name: {"type": "string", "description": each["description"]} for name, each in ACTION["inputs"].items()}
    steps = ACTION["runs"]["steps"]
    assert complaints(repository, workflow(steps, on={"workflow_call": {"inputs": inputs}})) == ""


EXAMPLES = sorted((ROOT / "examples").glob("*/.github/workflows/*.yml"))


@pytest.mark.parametrize(
    "path",
    [*sorted((ROOT / ".github/workflows").iterdir()), *EXAMPLES],
    ids=lambda path: f"{path.parts[-4]}-{path.name}",
)
def test_a_workflow_of_the_project_is_one(path: Path, repository: Path) -> None:
    assert complaints(repository, path.read_text(encoding="utf-8")) == ""


def test_the_workflows_and_the_action_give_strangers_nothing() -> None:
    """Actions are pinned, tokens can do what the job needs, and no expression becomes a program."""
    done = zizmor(ROOT / ".github", ROOT / "action.yml", *EXAMPLES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_weak_workflow_is_found(tmp_path: Path) -> None:
    (tmp_path / ".github/workflows").mkdir(parents=True)
    weak = workflow([{"uses": "actions/checkout@v6"}, {"run": "echo ${{ github.event.issue.title }}"}], on="issues")
    (tmp_path / ".github/workflows/weak.yml").write_text(weak, encoding="utf-8")
    done = zizmor(tmp_path / ".github")
    assert done.returncode != 0
    assert "unpinned-uses" in done.stdout
    assert "template-injection" in done.stdout


def zizmor(*paths: Path) -> subprocess.CompletedProcess[str]:
    command = ["zizmor", "--offline", "--quiet", "--color=never", *map(str, paths)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize(
    ("steps", "complaint"),
    [
        ([{"uses": "./", "with": {"modle": "openai:gpt-5.2"}}], 'input "modle" is not defined in action'),
        ([{"run": "echo ${{ github.event.pull_request.title }}"}], "potentially untrusted"),
        ([{"run": "rm $1"}], "SC2086"),
        ([{"run": "true", "if": "inputs.nothing == ''"}], 'property "nothing" is not defined'),
    ],
    ids=["unknown input", "injection", "shell", "expression"],
)
def test_a_mistake_is_found(repository: Path, steps: list[Any], complaint: str) -> None:
    on = {"workflow_call": {"inputs": {"paths": {"type": "string"}}}}
    assert complaint in complaints(repository, workflow(steps, on=on))


def workflow(steps: list[Any], on: object = "push") -> str:
    return yaml.safe_dump({"on": on, "jobs": {"cases": {"runs-on": "ubuntu-latest", "steps": steps}}}, sort_keys=False)


@pytest.mark.parametrize("script", sorted((ROOT / "action").glob("*.sh")), ids=lambda path: path.name)
def test_a_script_of_the_action_is_sound(script: Path) -> None:
    done = subprocess.run(
        ["shellcheck", "--shell=bash", str(script)], capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
