"""Case files outside of the root folder, or in a repository of their own: runs, baselines and what is measured."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_fcall.reporting.result_json import results_from_json
from pytest_fcall.reporting.results import Result
from pytest_fcall.tracking.run_file import read_run, run_paths
from tests.integration.mind import RIGHT, WRONG, Mind

OUTSIDE = "../outside/b.fc.yaml"


class Project:
    """A root folder with a case file, and another file beside the folder."""

    def __init__(self, mind: Mind) -> None:
        self.mind = mind
        self.shop = mind.shop
        self.root = self.shop.pytester.mkdir("root")
        self.shop.pytester.mkdir("outside")
        self.shop.file("root/pytest.ini", "[pytest]\npythonpath = ..\n")
        self.cases("oslo")
        mind.says({"oslo": RIGHT, "inside": RIGHT, "gone": RIGHT, "come": RIGHT})

    def cases(self, *ids: str) -> None:
        self.shop.cases("cases: [{id: inside, prompt: inside, expect: any_call}]", "../root/a.fc.yaml")
        lines = "".join(f"  - {{id: {id_}, prompt: {id_}, expect: [{{get_weather: {{city: Oslo}}}}]}}\n" for id_ in ids)
        self.shop.cases(f"cases:\n{lines}", "../outside/b.fc.yaml")

    def run(self, *args: str) -> pytest.RunResult:
        own = ("--rootdir=root", "-c", "root/pytest.ini", "root", "outside")
        result = self.shop.run(f"--fc-model={self.mind.model}", *own, *args)
        assert "Traceback" not in result.stdout.str()
        return result

    def results(self) -> dict[str, Result]:
        """The results of the last run by their files."""
        run = read_run(run_paths(self.root)[-1])
        return {result.file: result for result in results_from_json(run.results).results}


@pytest.fixture
def project(mind: Mind) -> Project:
    return Project(mind)


def test_answers_to_a_file_outside_are_accepted_and_gone_like_others(project: Project) -> None:
    project.cases("oslo", "gone")
    project.run("--fc-accept").assert_outcomes(passed=3)
    project.cases("oslo")
    result = project.run()
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["accepted, and gone: gone (../outside/__fcall__/*/b.fc.yaml.accepted); *"])
    assert len(run_paths(project.root)) == 2
    project.run("--fc-prune").stdout.fnmatch_lines(["pruned: gone (../outside/__fcall__/*)"])
    project.run().stdout.no_fnmatch_line("*and gone: *")


def test_a_case_that_moved_within_a_file_outside_has_its_command(project: Project) -> None:
    project.run("--fc-accept").assert_outcomes(passed=2)
    text = Path("outside/b.fc.yaml").read_text("utf-8")
    Path("outside/b.fc.yaml").write_text(text.replace("id: oslo", "id: bergen"), "utf-8")
    project.run().stdout.fnmatch_lines([f"oslo is gone and bergen asks the same: `fcall mv {OUTSIDE}::oslo bergen`"])


def test_later_runs_count_as_evidence_for_a_file_outside(project: Project) -> None:
    project.run("--fc-accept")
    for _ in range(3):
        project.run("--fc-record=all")
    project.mind.says({"oslo": WRONG})
    project.run("--fc-confirm=0").stdout.fnmatch_lines(["  regressed: 4/4 right before, 0/1 now *"])


def test_a_folder_of_baselines_has_none_of_a_file_outside(project: Project) -> None:
    project.run("--fc-accept")
    base = project.shop.pytester.mkdir("base")
    (project.root / "__fcall__").rename(base / "__fcall__")
    project.run("--fc-baseline=base")
    assert {file: each.outcome for file, each in project.results().items()} == {"a.fc.yaml": "ok", OUTSIDE: None}


def test_a_file_in_another_repository_is_named_where_a_revision_is_compared(project: Project) -> None:
    project.run("--fc-accept")
    for folder in ("root", "outside"):
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "one")
    git("root", "tag", "accepted")
    project.mind.says({"inside": []})
    result = project.run("--fc-baseline=git:accepted")
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            f"--fc-baseline: {OUTSIDE} cannot be compared: it is not in the repository of the root folder: "
            "unknown git revision 'accepted'*"
        ]
    )
    git("outside", "tag", "accepted")
    project.run("--fc-baseline=git:accepted").assert_outcomes(passed=1, failed=1)


def git(folder: str, *arguments: str) -> None:
    person = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    subprocess.run(["git", *person, "-C", folder, *arguments], check=True)
