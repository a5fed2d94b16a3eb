from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_fcall.tracking.revision import file_at_revision, revision_of, run_git

pytestmark = pytest.mark.needs("git")

AS_NOBODY = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))
    folder = tmp_path / "shop"
    (folder / "cases").mkdir(parents=True)
    (folder / "cases" / "a.txt").write_text("first\n")
    assert run_git(folder, "init", "--quiet", "--initial-branch=main") is not None
    assert run_git(folder, "add", ".") is not None
    assert run_git(folder, *AS_NOBODY, "commit", "--quiet", "-m", "first") is not None
    return folder


def test_a_run_knows_its_commit_and_branch(repository: Path) -> None:
    told = revision_of(repository / "cases")

    assert len(str(told.pop("commit"))) == 40
    assert told == {"branch": "main", "dirty": False}


def test_a_changed_file_makes_it_dirty(repository: Path) -> None:
    (repository / "cases" / "a.txt").write_text("second\n")

    assert revision_of(repository)["dirty"] is True


@pytest.mark.skipif(sys.platform == "win32", reason="names are text there")
def test_a_changed_file_may_have_a_name_in_another_encoding(repository: Path) -> None:
    assert run_git(repository, "config", "core.quotePath", "false") is not None
    blob = (run_git(repository, "rev-parse", "HEAD:cases/a.txt") or b"").decode().strip()
    assert run_git(repository, "update-index", "--add", "--cacheinfo", f"100644,{blob},caf\udce9.txt") is not None

    assert revision_of(repository)["dirty"] is True


def test_a_detached_head_has_no_branch(repository: Path) -> None:
    assert run_git(repository, "checkout", "--quiet", "--detach") is not None

    assert revision_of(repository).keys() == {"commit", "dirty"}


def test_the_upstream_of_a_branch_changes_nothing(repository: Path) -> None:
    assert run_git(repository, "branch", "feature") is not None
    before = revision_of(repository)
    assert run_git(repository, "branch", "--set-upstream-to=feature") is not None

    assert revision_of(repository) == before


def test_a_repository_without_a_commit_has_no_revision(tmp_path: Path) -> None:
    assert run_git(tmp_path, "init", "--quiet") is not None

    assert revision_of(tmp_path) == {}


def test_a_repository_may_be_elsewhere(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = revision_of(repository)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (repository / "link").symlink_to(elsewhere)

    assert revision_of(repository / "link") == {}

    (elsewhere / "cases").symlink_to(repository / "cases")
    assert revision_of(elsewhere / "cases") == told

    monkeypatch.setenv("GIT_DIR", str(repository / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(repository))
    assert revision_of(elsewhere) == told


def test_in_a_folder_without_a_repository_git_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fcall.tracking.revision.run_git", None)

    assert revision_of(tmp_path) == {}


def test_without_git_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_git(tmp_path, "init", "--quiet") is not None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert revision_of(tmp_path) == {}


def test_a_file_is_read_as_it_was(repository: Path) -> None:
    (repository / "cases" / "a.txt").write_text("second\n")

    assert file_at_revision("main", repository / "cases" / "a.txt") == b"first\n"
    assert file_at_revision("HEAD", repository / "cases" / "gone" / "b.txt") is None


@pytest.mark.parametrize("revision", ["nowhere", "--all", "-", "", "main\0"])
def test_an_unknown_revision_is_refused(repository: Path, revision: str) -> None:
    with pytest.raises(ValueError, match="unknown git revision"):
        file_at_revision(revision, repository / "cases" / "a.txt")


def test_it_is_said_where_there_is_no_repository_and_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=f"unknown git revision 'HEAD': {tmp_path.name} is in no git repository"):
        file_at_revision("HEAD", tmp_path / "a.txt")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="unknown git revision 'HEAD': git is not installed"):
        file_at_revision("HEAD", tmp_path / "a.txt")


def test_a_shallow_clone_is_named_where_a_revision_is_unknown(repository: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    assert run_git(tmp_path, "clone", "--quiet", "--depth=1", repository.as_uri(), str(clone)) is not None
    with pytest.raises(ValueError, match=r"this clone is shallow: .*`fetch-depth: 0`"):
        file_at_revision("feature", clone / "cases" / "a.txt")


def test_a_branch_that_only_the_server_has_is_suggested(repository: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    assert run_git(repository, "branch", "feature") is not None
    assert run_git(tmp_path, "clone", "--quiet", repository.as_uri(), str(clone)) is not None
    with pytest.raises(ValueError, match="unknown git revision 'feature'; write origin/feature"):
        file_at_revision("feature", clone / "cases" / "a.txt")
