"""The action of GitHub: its steps are run as they stand in action.yml, against an API on loopback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.integration.action_job import ACTION, ARTIFACT_URL, ROOT, Ended, Job
from tests.integration.ci_job import github_job
from tests.integration.command import fcall
from tests.servers import Server
from tests.servers.comment_apis import GitHubApi

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="bash and paths of POSIX"),
    pytest.mark.needs("bash"),
]

MODEL = "python:agent:answer"
AGENT = '''
from pathlib import Path


def answer(request):
    """Answer what the file beside it says; where it says nothing, be down."""
    print("::set-output name=status::0")
    said = Path("city.txt").read_text().split()
    Path("city.txt").write_text(" ".join(said[1:] or said))
    if said[0] == "down":
        raise ConnectionError("the shop is closed")
    return [{"name": "get_weather", "arguments": {"city": said[0]}}]
'''
CASES = """
tools: [{name: get_weather, description: Weather of a city., parameters: {properties: {city: {type: string}}}}]
cases: [{id: oslo, prompt: Weather in Oslo?, expect: [{get_weather: {city: Oslo}}]}]
"""
STEPS = ACTION["runs"]["steps"]
PYTHONS = str(Path(sys.executable).parent)
"""Where programs are that start as a job's do; others are forked."""


@pytest.fixture
def job(tmp_path: Path, github_server: Server, forked_programs: Path) -> Job:
    workspace, temp = tmp_path / "shop", tmp_path / "temp"
    (workspace / "cases").mkdir(parents=True)
    temp.mkdir()
    (workspace / "pytest.ini").write_text("[pytest]\nfc_model = openai:gpt-5.2\n", encoding="utf-8")
    (workspace / "cases/weather.fc.yaml").write_text(CASES, encoding="utf-8")
    (workspace / "agent.py").write_text(AGENT, encoding="utf-8")
    says(workspace, "Oslo")
    return Job(workspace, github_job(temp, github_server), temp, str(forked_programs))


def says(workspace: Path, *cities: str) -> None:
    (workspace / "city.txt").write_text(" ".join(cities), encoding="utf-8")


@pytest.mark.parametrize("programs", ["", by_night(PYTHONS)], ids=["forked", "started"])
def test_a_run_leaves_outputs_reports_a_summary_and_one_comment(job: Job, github: GitHubApi, programs: str) -> None:
    job.path = programs or job.path
    ended = job.use(model=MODEL, paths="cases", args="-s '--fc-gate=accuracy >= 100%'")
    assert ended.status == 0, ended.output
    outputs = ended.outputs
    assert {name: outputs[name] for name in ("status", "passed", "failed", "errors", "regressed")} == {
        "status": "0",
        "passed": "1",
        "failed": "0",
        "errors": "0",
        "regressed": "0",
    }
    assert outputs["artifact-url"] == ARTIFACT_URL
    assert outputs["comment-url"] == "https://github.example/octo/shop/pull/7#issuecomment-1"
    assert Path(outputs["report"]).read_text(encoding="utf-8").startswith("<!doctype html>")
    run = Path(outputs["run"])
    assert sorted(path.name for path in ended.artifact.iterdir()) == sorted(
        [run.name, f"{run.stem}.accounts.jsonl.gz", "report.html", "report.md"]
    )
    assert "get_weather" in fcall(job.workspace, "show", "oslo", "--run", outputs["run"]).stdout
    assert ended.summary.count("<!-- pytest-fcall -->") == 1
    (body,) = github.bodies
    assert "### ✅ fcall: passed" in body
    assert body.endswith(f"[job](https://github.example/octo/shop/actions/runs/1001), [report]({ARTIFACT_URL})</sub>\n")
    commands_of_models_are_not_obeyed(ended)


def commands_of_models_are_not_obeyed(ended: Ended) -> None:
    found = re.search(r"^::stop-commands::(\w{32})\n(.*?)^::\1::$", ended.output, re.MULTILINE | re.DOTALL)
    assert found
    assert "::set-output name=status::0" in found[2]
    assert "::set-output" not in ended.output.replace(found[0], "")


def test_a_later_run_that_fails_ends_so_and_replaces_the_comment(job: Job, github: GitHubApi) -> None:
    job.use(model=MODEL)
    says(job.workspace, "Rome")
    ended = job.use(run="1002", model=MODEL, comment="required")
    assert (ended.status, ended.outputs["status"], ended.outputs["failed"]) == (1, "1", "1")
    (body,) = github.bodies
    assert "### ❌ fcall: failed" in body
    assert re.search(r"^::error file=cases/weather.fc.yaml,line=3,", ended.output, re.MULTILINE)
    assert len(list((job.workspace / ".fcall/runs").glob("*.json"))) == 2


def test_a_run_that_is_inconclusive_is_made_again(job: Job, github: GitHubApi) -> None:
    says(job.workspace, "down", "Oslo")
    ended = job.use(model=MODEL, attempts="3", wait="0")
    assert (ended.status, ended.outputs["status"]) == (0, "0"), ended.output
    assert ended.output.count("is inconclusive; the next one begins in 0 s") == 1
    assert ended.summary.count("fcall: passed") == 1
    assert "inconclusive" not in ended.summary + github.bodies[0]
    assert "::error" not in ended.output.rpartition("::stop-commands::")[2]


@pytest.mark.nightly
def test_what_stays_inconclusive_ends_so(job: Job, github: GitHubApi) -> None:
    says(job.workspace, "down")
    ended = job.use(model=MODEL, attempts="2", wait="0")
    assert (ended.status, ended.outputs["status"], ended.outputs["errors"]) == (10, "10", "1")
    assert ended.output.count("::stop-commands::") == 2
    assert "### ❔ fcall: inconclusive" in github.bodies[0]


@pytest.mark.nightly
def test_where_recorded_replies_are_judged_there_is_one_attempt(job: Job) -> None:
    ended = job.use()
    assert (ended.status, ended.output.count("::stop-commands::")) == (10, 1), ended.output


def test_a_run_without_a_report_takes_back_what_an_earlier_one_said(job: Job, github: GitHubApi) -> None:
    github.add("<!-- pytest-fcall -->\n### ✅ fcall: passed")
    ended = job.use(model=MODEL, args="--no-such-option")
    assert (ended.status, ended.outputs["status"], ended.outputs["report"]) == (4, "4", "")
    assert github.bodies[0].startswith("<!-- pytest-fcall -->\n### ❌ fcall: no report\n\nreport.md was not written")


@pytest.mark.nightly
def test_a_token_that_may_only_read_changes_nothing_of_the_run(job: Job, github: GitHubApi) -> None:
    github.writable = False
    ended = job.use(model=MODEL)
    assert ended.status == 0
    assert "no comment is written: GitHub does not take a comment" in ended.output
    assert ended.outputs["comment-url"] == ""


@pytest.mark.nightly
def test_a_comment_that_is_required_and_refused_fails_the_job(job: Job, github: GitHubApi) -> None:
    github.writable = False
    assert job.use(model=MODEL, comment="required").status == 1


@pytest.mark.nightly
def test_an_api_that_is_broken_is_a_warning(job: Job) -> None:
    job.environment["GITHUB_REPOSITORY"] = "octo/other"
    ended = job.use(model=MODEL)
    assert ended.status == 0
    assert "::warning title=pytest-fcall::" in ended.output
    assert "HTTP 404: Not Found" in ended.output


@pytest.mark.nightly
def test_replies_are_for_attempts_of_one_workflow_and_results_for_all(job: Job) -> None:
    path = "./.fcall/replies.db*"
    replies = job.workspace / ".fcall/replies.db"
    replies.parent.mkdir()
    job.caches = {
        f"{path}|fcall-replies;cases;;1001;1": {replies: b"of the first attempt"},
        f"{path}|fcall-replies;cases;gpt;1001;1": {replies: b"of another job"},
    }
    ended = job.use(run="1001", attempt="2", paths="no-such-folder", model=MODEL)
    assert (ended.status, replies.read_bytes()) == (4, b"of the first attempt")
    replies.unlink()
    job.use(run="1002", paths="no-such-folder", model=MODEL)
    assert not replies.exists()


HOSTILE = 'x"; touch pwned; "$(touch pwned)`touch pwned`\n--co ${IFS}| touch pwned #'


@pytest.mark.parametrize(
    "names",
    [
        ("paths", "model", "args"),
        ("name", "version", "attempts", "wait", "comment"),
        *(by_night((name,)) for name in ("paths", "model", "args", "name")),
    ],
    ids=" ".join,
)
def test_no_input_is_read_as_a_program(job: Job, names: Sequence[str]) -> None:
    job.path = str(fake_python(job.temp, installed="pytest_fcall jinja2", python=f"{job.path}/python"))
    ended = job.use(**({"model": MODEL, "comment": "required"} | dict.fromkeys(names, HOSTILE)))
    assert ended.status
    assert [*job.workspace.rglob("pwned*"), *job.temp.rglob("pwned*")] == []
    assert "command not found" not in ended.output


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"attempts": "0"}, "attempts: must be a number from 1 to 10, not '0'"),
        ({"wait": "a day"}, "wait: must be a number from 0 to 3600, not 'a day'"),
        ({"args": "-k 'open"}, "args: No closing quotation"),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else "",
)
def test_an_input_that_cannot_be_meant_is_named(job: Job, inputs: dict[str, str], told: str) -> None:
    ended = job.use(model=MODEL, comment="false", **inputs)
    assert ended.status == 4
    assert f"::error title=pytest-fcall::{told}\n" in ended.output


def fake_python(folder: Path, installed: str = "", python: str = sys.executable) -> Path:
    """A folder with a `python` that has these modules, prints what pip is to install, and else is Python."""
    path = folder / "bin/python"
    path.parent.mkdir()
    path.write_text(
        f"""#!/bin/bash
case "$*" in
    "-m pip "*) printf '<%s>\\n' "${{@: -1}}" ;;
    "-P -c import "*) for each in ${{3//[,]/}}; do [[ " import {installed} " = *" $each "* ]] || exit 1; done ;;
    *) exec '{python}' "$@" ;;
esac
""",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path.parent


@pytest.mark.parametrize(
    ("version", "installed", "wanted"),
    [
        ("", "", f"<{ROOT}[report]>\n"),
        ("", "pytest_fcall jinja2", ""),
        ("", "pytest_fcall", "<pytest-fcall[report]>\n"),
        ("0.1.0", "pytest_fcall jinja2", "<pytest-fcall[report]==0.1.0>\n"),
    ],
    ids=["nothing is there", "all is there", "pages need more", "a version is named"],
)
def test_what_the_job_has_is_not_replaced(tmp_path: Path, version: str, installed: str, wanted: str) -> None:
    (install,) = [step for step in STEPS if step["name"] == "Install pytest-fcall"]
    path = os.pathsep.join([str(fake_python(tmp_path, installed)), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", install["run"]],
        env={"PATH": path, "GITHUB_ACTION_PATH": str(ROOT), "FCALL_VERSION": version},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, wanted), done.stderr


def test_no_expression_stands_in_a_program() -> None:
    programs = [step["run"] for step in STEPS if "run" in step]
    assert programs
    assert [program for program in programs if "${{" in program] == []


def test_only_actions_of_github_itself_are_used() -> None:
    assert {step["uses"].partition("/")[0] for step in STEPS if "uses" in step} == {"actions"}


def test_every_input_is_used_and_every_name_in_an_expression_is_there() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == ACTION["inputs"].keys()
    assert set(re.findall(r"steps\.([\w-]+)\.", text)) == {step["id"] for step in STEPS if "id" in step}
