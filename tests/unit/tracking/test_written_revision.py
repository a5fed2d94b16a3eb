"""The files of a revision, written into a folder apart."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_fcall.tracking.revision import write_revision

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in a folder of its repository, whose file has changed since the first commit."""
    root = tmp_path / "repository" / "project"
    (root / "cases").mkdir(parents=True)
    (root / "cases" / "a.fc.yaml").write_text("old\n")
    (root / ".gitattributes").write_text("cases export-ignore\n")
    (root.parent / "other.txt").write_text("not of the project\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "one"]):
        subprocess.run([*git, *command], cwd=root.parent, check=True)
    (root / "cases" / "a.fc.yaml").write_text("new\n")
    return root


def test_the_files_of_the_project_are_those_of_the_revision_and_the_work_tree_stays_as_it_is(
    project: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "private" / "tree"
    folder.mkdir(parents=True)
    before = subprocess.run(["git", "status", "--porcelain"], cwd=project, check=True, capture_output=True).stdout
    write_revision("HEAD", project, folder)
    assert (folder / "cases" / "a.fc.yaml").read_text() == "old\n"
    assert not (folder / "other.txt").exists()
    assert (project / "cases" / "a.fc.yaml").read_text() == "new\n"
    after = subprocess.run(["git", "status", "--porcelain"], cwd=project, check=True, capture_output=True).stdout
    assert after == before


@pytest.mark.parametrize(
    "revision",
    ["nowhere", "", "--help", "--output=x", "HEAD:cases", "HEAD; touch x", "$(touch x)", "\x00", "a\nb", "HEAD~9"],
)
def test_a_name_that_is_no_revision_is_refused_and_nothing_is_written(
    project: Path, tmp_path: Path, revision: str
) -> None:
    folder = tmp_path / "private" / "tree"
    folder.mkdir(parents=True)
    with pytest.raises(ValueError, match="unknown git revision"):
        write_revision(revision, project, folder)
    assert [*folder.iterdir()] == []
    assert not list(tmp_path.rglob("x"))


def test_a_project_that_is_not_in_the_revision_is_told_by_its_name(project: Path, tmp_path: Path) -> None:
    (project.parent / "newer").mkdir()
    with pytest.raises(ValueError, match="the folder newer does not exist at 'HEAD'"):
        write_revision("HEAD", project.parent / "newer", tmp_path / "tree")


def test_without_git_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown git revision"):
        write_revision("HEAD", tmp_path, tmp_path / "tree")


def test_a_folder_that_cannot_be_written_is_an_error(project: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="git cannot write the files of 'HEAD'"):
        write_revision("HEAD", project, tmp_path / "file" / "tree")
