"""What the pages about CI have people copy is run: workflows, a job, a pipeline and a loop in a shell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.action_job import ACTION, ARTIFACT_URL, Job
from tests.integration.ci_job import github_job, gitlab_job
from tests.integration.command import plain
from tests.pages import ROOT, Block, blocks_of, write
from tests.servers import Answer, Asked, Server, chat
from tests.servers.comment_apis import TOKEN, CommentApi, GitHubApi, GitLabApi
from tests.suite_tools import WITHOUT_TOOLS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="bash and paths of POSIX")

HOW_TO = ROOT / "docs/how-to"
GITHUB, GATES = HOW_TO / "ci-github.md", HOW_TO / "gates.md"
PAGES = [HOW_TO / f"{name}.md" for name in ("ci", "ci-gitlab", "ci-jenkins", "answer-age", "earlier-runs", "shards")]
BLOCKS = [block for page in (GITHUB, *PAGES) for block in blocks_of(page)]
WORKFLOWS = {block.text: block for block in BLOCKS if block.path and block.path.startswith(".github/")}.values()
"""Each workflow once: two pages show the same ten lines."""
PUBLISHED = "pytest-fcall/pytest-fcall@v1"
KEY = "sk-8c1f7d2e9b3a4f60"
QUICK = "Without the action"
"""The workflow that each push tries, of those of the page; the others are for the night."""
PROGRAMS = {
    "pip": "exit 0",
    "sleep": "exit 0",
    "python": """case "$*" in
    "-m pip "*) ;;
    "-m venv "*) mkdir -p "$3/bin"; ln -s "$(command -v pip)" "$(command -v pytest)" "$3/bin" ;;
    *) exec "$(dirname "$(command -v pytest)")/python" "$@" ;;
esac""",
}
"""Installing would need a network, and waiting takes time."""


def section_of(block: Block) -> str:
    lines = block.page.read_text(encoding="utf-8").splitlines()[: block.line]
    return next(line.lstrip("# ") for line in reversed(lines) if re.match("#+ ", line))


def model(asked: Asked) -> Answer:
    """What the app of the page answers, as a model."""
    said = asked.json["messages"][-1]["content"]
    cities = [city for city in ("Oslo", "Rome") if city in said]
    return chat(calls=[("get_weather", {"city": cities[0]})]) if cities else chat("You are welcome.")


@dataclass
class Place:
    """A checkout of the page's project on a machine of CI."""

    folder: Path
    server: Server
    api: CommentApi
    pythons: Path
    """Where programs are that installing would bring."""
    jobs: int = 0
    artifacts: dict[str, Path] = field(default_factory=dict)

    @property
    def programs(self) -> Path:
        path = self.folder / "programs"
        path.mkdir(exist_ok=True)
        for name, program in PROGRAMS.items():
            (path / name).write_text(f"#!/bin/bash\n{program}\n", encoding="utf-8")
            (path / name).chmod(0o755)
        return path

    def checkout(self) -> Path:
        self.jobs += 1
        workspace = self.folder / f"job-{self.jobs}"
        for block in blocks_of(GATES):
            if block.path in {"cases/weather.fc.yaml", "agent.py"}:
                write(block, workspace)
        (workspace / "pytest.ini").write_text("[pytest]\nfc_model = openai:gpt-5.2\n", encoding="utf-8")
        return workspace

    def run(self, program: str, workspace: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        found = [self.path, os.environ["PATH"]]
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", program],
            cwd=workspace,
            env={**plain(), **self.variables, **environment, "PATH": os.pathsep.join(found)},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    @property
    def path(self) -> str:
        return os.pathsep.join([str(self.programs), str(self.pythons)])

    @property
    def variables(self) -> dict[str, str]:
        options = f"{WITHOUT_TOOLS} -p no:cacheprovider"
        return {"OPENAI_BASE_URL": self.server.url, "PYTEST_ADDOPTS": options, "NO_PROXY": "*"}


def place(folder: Path, api: CommentApi, pythons: Path) -> Iterator[Place]:
    with Server(lambda asked: model(asked) if asked.path.startswith("/v1/") else api(asked)) as server:
        yield Place(folder, server, api, pythons)


@pytest.fixture
def github(tmp_path: Path, forked_programs: Path) -> Iterator[Place]:
    yield from place(tmp_path, GitHubApi(), forked_programs)


@pytest.fixture
def gitlab(tmp_path: Path, forked_programs: Path) -> Iterator[Place]:
    yield from place(tmp_path, GitLabApi(), forked_programs)


class WorkflowRun:
    """A workflow, run job by job. Actions of GitHub itself are played."""

    def __init__(self, block: Block, at: Place) -> None:
        self.at = at
        self.failed: dict[str, bool] = {}
        for name, job in yaml.safe_load(block.text)["jobs"].items():
            matrix: dict[str, list[object]] = job.get("strategy", {}).get("matrix", {})
            for chosen in product(*matrix.values()):
                given = {f"matrix.{each}": str(value) for each, value in zip(matrix, chosen, strict=True)}
                self.failed[name] = self._job(job["steps"], given) or self.failed.get(name, False)

    def _job(self, steps: list[dict[str, Any]], given: Mapping[str, str]) -> bool:
        workspace, failed = self.at.checkout(), False
        values = {"github.token": TOKEN, "secrets.OPENAI_API_KEY": KEY, "github.run_id": "1001", **given}
        job = {name: value for name, value in github_job(workspace, self.at.server).items() if name != "GITHUB_TOKEN"}
        for step in steps:
            condition = step.get("if", "success()")
            assert condition in {"always()", "success()"}
            if failed and condition == "success()":
                continue
            environment = {name: filled(str(text), values) for name, text in step.get("env", {}).items()}
            options = {name: filled(str(text), values) for name, text in step.get("with", {}).items()}
            if "run" in step:
                done = self.at.run(filled(step["run"], values), workspace, job | environment)
                failed = failed or (done.returncode != 0 and not step.get("continue-on-error"))
            elif step["uses"] == PUBLISHED:
                failed = self._action(workspace, job | environment, options)
            else:
                values |= self._played(step, options, workspace)
        return failed

    def _action(self, workspace: Path, environment: dict[str, str], options: dict[str, str]) -> bool:
        temp = workspace / "temp"
        temp.mkdir()
        given = self.at.variables | environment | {"GITHUB_TOKEN": TOKEN}
        return Job(workspace, given, temp, self.at.path).use(**options).status != 0

    def _played(self, step: dict[str, Any], options: dict[str, str], workspace: Path) -> dict[str, str]:
        match step["uses"].partition("@")[0]:
            case "actions/upload-artifact":
                kept = self.at.folder / "artifacts" / options["name"]
                kept.mkdir(parents=True, exist_ok=True)
                source = workspace / options["path"]
                for file in source.iterdir() if source.is_dir() else [source]:
                    shutil.copy(file, kept)
                self.at.artifacts[options["name"]] = kept
                return {f"steps.{step.get('id')}.outputs.artifact-url": ARTIFACT_URL}
            case "actions/download-artifact":
                (workspace / options["path"]).mkdir()
                for folder in self.at.artifacts.values():
                    shutil.copytree(folder, workspace / options["path"], dirs_exist_ok=True)
        return {}


def filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: values.get(found[1], "1"), text)


@pytest.mark.needs("bash")
@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, id=section_of(block), marks=() if section_of(block) == QUICK else pytest.mark.nightly)
        for block in WORKFLOWS
    ],
)
def test_a_workflow_ends_with_what_its_cases_are_worth(block: Block, github: Place) -> None:
    ended = WorkflowRun(block, github)
    assert list(ended.failed.values())[-1], "a case of four is wrong"
    comments = github.api.bodies
    models = re.findall(r'"(openai:[\w.-]+)"', block.text.partition("matrix:")[2].partition("]")[0])
    if "comment" in block.text or "pytest-fcall@" in block.text:
        headings = [f"### ❌ fcall: failed ({name})" for name in models] or ["### ❌ fcall: failed"]
        assert [body.splitlines()[1] for body in comments] == headings
        assert all("| 3/4 |" in body and f"[report]({ARTIFACT_URL})" in body for body in comments)
    else:
        assert comments == []
    assert KEY not in "".join(comments)


@pytest.mark.needs("bash")
def test_the_job_of_gitlab_comments_and_leaves_its_files(gitlab: Place) -> None:
    (block,) = [each for each in BLOCKS if each.path == ".gitlab-ci.yml"]
    (job,) = yaml.safe_load(block.text).values()
    workspace, environment = gitlab.checkout(), gitlab_job(gitlab.server) | {"OPENAI_API_KEY": KEY, "CI": "true"}
    statuses = [gitlab.run(line, workspace, environment).returncode for line in job["script"]]
    assert statuses == [0, 1]
    for line in job["after_script"]:
        assert gitlab.run(line, workspace, environment).returncode == 0
    (body,) = gitlab.api.bodies
    assert "### ❌ fcall: failed" in body
    assert "[report](https://gitlab.example/octo/shop/-/jobs/9/artifacts/file/report.html)" in body
    for path in (*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"], *job["cache"]["paths"]):
        assert (workspace / path).exists(), path
    assert job["retry"]["exit_codes"] == 10


@pytest.mark.needs("bash")
def test_the_pipeline_of_jenkins_leaves_its_files(github: Place) -> None:
    (block,) = [each for each in BLOCKS if each.path == "Jenkinsfile"]
    assert block.text.count("{") == block.text.count("}")
    (installed,) = re.findall(r"sh '''\n(.*?)'''", block.text, re.DOTALL)
    (asked,) = re.findall(r"sh\(script: '(.*?)', returnStatus: true\)", block.text)
    workspace, environment = github.checkout(), {"OPENAI_API_KEY": KEY, "CI": "true"}
    assert github.run(installed, workspace, environment).returncode == 0
    assert github.run(asked, workspace, environment).returncode == 1
    (junit,) = re.findall(r"junit testResults: '(.*?)'", block.text)
    (archived,) = re.findall(r"archiveArtifacts artifacts: '(.*?)'", block.text)
    for pattern in (junit, *archived.split(", ")):
        assert [*workspace.glob(pattern)], pattern


@pytest.mark.needs("bash")
@pytest.mark.parametrize(
    ("answer", "status", "attempts"),
    [(None, 1, 1), (Answer(b"", 401), 10, 3)],
    ids=["a wrong answer", "a key that is not valid"],
)
def test_the_loop_in_a_shell_asks_again_what_was_not_answered(
    github: Place, answer: Answer | None, status: int, attempts: int
) -> None:
    (block,) = [each for each in BLOCKS if each.info == "bash"]
    github.server.script(*[answer] * 12 if answer else [])
    done = github.run(block.text, github.checkout(), {"OPENAI_API_KEY": KEY, "CI": "true"})
    assert (done.returncode, done.stdout.count("test session starts")) == (status, attempts), done.stdout


@pytest.mark.parametrize("kind", ["inputs", "outputs"])
def test_the_page_names_all_that_the_action_takes_and_gives(kind: str) -> None:
    section = GITHUB.read_text(encoding="utf-8").partition("## Keys and forks")[0]
    told = {name for row in re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE) for name in re.findall("`(.*?)`", row)}
    assert set(ACTION[kind]) <= told
    assert told <= set(ACTION["inputs"]) | set(ACTION["outputs"])
