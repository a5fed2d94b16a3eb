from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_fcall.core import Model
from pytest_fcall.tracking.revision import run_git
from tests.integration.mind import OTHERWISE, WRONG, Mind, lines_with


@pytest.fixture
def regressed(mind: Mind) -> Mind:
    """One model is accepted, and another one does worse."""
    mind.cases("one")
    mind.run("--fc-accept")
    mind.says({"one": WRONG})
    mind.model = "python:mind:other"
    return mind


def test_a_model_is_compared_with_another_one(regressed: Mind) -> None:
    assert not lines_with(regressed.run(), "1 regressed")

    assert lines_with(regressed.run("--fc-baseline=python:mind:answer"), "1 regressed")


def test_the_other_model_may_go_by_a_name_of_the_project(regressed: Mind) -> None:
    regressed.shop.file("pyproject.toml", '[tool.fcall.models.before]\nmodel = "openai:gpt-5.2"\n')
    folder = regressed.baseline(model="python:mind:answer").parent
    folder.rename(folder.with_name(Model("openai", "before").folder))

    assert lines_with(regressed.run("--fc-baseline=before"), "1 regressed")


@pytest.mark.nightly  # the same baseline as above
def test_a_known_failure_of_the_other_model_is_one_of_this(regressed: Mind) -> None:
    regressed.shop.run("--fc-model=python:mind:answer", "--fc-accept=all")

    regressed.run("--fc-baseline=python:mind:answer").assert_outcomes(xfailed=1)


def test_what_is_accepted_goes_to_the_models_own_baseline(regressed: Mind) -> None:
    before = regressed.files()
    regressed.says({"one": OTHERWISE})

    regressed.run("--fc-baseline=python:mind:answer", "--fc-accept")

    assert before.items() < regressed.files().items()


def test_a_copy_of_the_project_is_compared_with(mind: Mind, tmp_path: Path) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    shutil.move(mind.path / "cases" / "__fcall__", tmp_path / "copy" / "cases" / "__fcall__")
    mind.says({"one": WRONG})

    assert lines_with(mind.run(f"--fc-baseline={tmp_path / 'copy'}"), "1 regressed")


@pytest.fixture
def committed(mind: Mind, monkeypatch: pytest.MonkeyPatch) -> Mind:
    """What was right in one commit is a known failure in the next."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(mind.path / "none"))
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "nobody")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "nobody@example.org")
    run_git(mind.path, "init", "--quiet")
    mind.cases("one")
    for tag, accept in (("first", "--fc-accept"), ("second", "--fc-accept=all")):
        mind.run(accept)
        run_git(mind.path, "add", ".")
        run_git(mind.path, "commit", "--quiet", "-m", tag)
        assert run_git(mind.path, "tag", tag) is not None
        mind.says({"one": WRONG})
    return mind


@pytest.mark.needs("git")
def test_an_older_commit_is_compared_with(committed: Mind) -> None:
    committed.run().assert_outcomes(xfailed=1)

    result = committed.run("--fc-baseline=git:first")

    result.assert_outcomes(failed=1)
    assert lines_with(result, "1 regressed")


@pytest.mark.needs("git")
def test_workers_compare_with_it_too(committed: Mind) -> None:
    assert lines_with(committed.run("--fc-baseline=git:first", "-n2"), "1 regressed")


@pytest.mark.needs("git")
def test_what_was_not_committed_is_no_baseline(committed: Mind) -> None:
    committed.cases("two", name="b.fc.yaml")

    result = committed.run("--fc-baseline=git:first", "cases/b.fc.yaml")

    result.assert_outcomes(passed=1)
    assert not lines_with(result, "not in the baseline")


@pytest.mark.needs("git")
def test_damage_in_an_older_commit_is_told_by_its_revision(committed: Mind) -> None:
    committed.baseline().write_text("nothing")
    run_git(committed.path, "commit", "--quiet", "-a", "-m", "third")

    result = committed.run("--fc-baseline=git:HEAD")

    result.assert_outcomes(errors=1)
    assert lines_with(result, "HEAD:a.fc.yaml.accepted:1:1: not a baseline file")


@pytest.mark.needs("git")
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("nowhere", "'nowhere' is neither a model, nor a folder, nor git:REVISION"),
        ("git:nowhere", "unknown git revision 'nowhere'"),
        ("git:--all", "unknown git revision '--all'"),
        ("7up:model", "'7up:model' is neither a model, nor a folder, nor git:REVISION"),
    ],
)
def test_what_is_nothing_of_that_is_refused(committed: Mind, value: str, message: str) -> None:
    result = committed.run(f"--fc-baseline={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in str(result.stderr)
