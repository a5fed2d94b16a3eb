from __future__ import annotations

import pytest

from pytest_fcall.tracking.acceptance import read_stanzas
from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.mind import Mind, lines_with


@pytest.fixture
def accepted(mind: Mind) -> Mind:
    mind.cases("one", "two")
    mind.run("--fc-accept")
    return mind


def mv(mind: Mind, *arguments: str, says: str = "", status: int = 0) -> None:
    done = fcall_here(mind.path, "mv", *arguments)
    assert says in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == status, done.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("one", "uno"),
        ("cases/a.fc.yaml::one", "cases/a.fc.yaml::uno"),
        by_night("one", "cases/a.fc.yaml::uno"),
        by_night("cases/a.fc.yaml::one", "uno"),
    ],
)
def test_a_renamed_case_keeps_what_is_accepted_of_it_under_all_models(accepted: Mind, old: str, new: str) -> None:
    accepted.run("--fc-model=python:mind:other", "--fc-accept")

    mv(accepted, old, new, says="renamed one to uno")

    for model in ("python:mind:answer", "python:mind:other"):
        assert list(read_stanzas(accepted.baseline(model=model))) == ["two", "uno"]
    accepted.cases("uno", "two")
    result = accepted.run()
    assert not lines_with(result, "gone")
    assert not lines_with(result, "not in the baseline: 1 new")


def test_a_renamed_file_keeps_what_belongs_to_it(accepted: Mind) -> None:
    replies = accepted.baseline().with_name("a.fc.yaml.replies.jsonl")
    replies.touch()
    (accepted.path / "cases" / "a.fc.yaml").rename(accepted.path / "cases" / "b.fc.yaml")

    mv(accepted, "cases/a.fc.yaml", "cases/b.fc.yaml")

    assert sorted(path.name for path in replies.parent.iterdir()) == [
        "b.fc.yaml.accepted",
        "b.fc.yaml.measured.jsonl",
        "b.fc.yaml.replies.jsonl",
    ]
    assert not lines_with(accepted.run(), "not in the baseline")


def test_a_file_may_move_to_another_folder(accepted: Mind) -> None:
    mv(accepted, "cases/a.fc.yaml", "exams/new/a.fc.yaml")

    (path,) = accepted.files()
    assert path.startswith("exams/new/__fcall__/")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("nobody", "somebody", "no baseline holds a case 'nobody'"),
        ("cases/b.fc.yaml::one", "uno", "no baseline holds a case 'one' of cases/b.fc.yaml"),
        ("one", "two", "holds a case 'two' already"),
        ("cases/z.fc.yaml", "cases/b.fc.yaml", "cases/z.fc.yaml has no baselines, recordings or locks"),
        ("cases/a.fc.yaml", "uno", "a case file must end in .yaml or .yml"),
    ],
)
def test_what_cannot_be_renamed_is_said_and_nothing_is(accepted: Mind, old: str, new: str, says: str) -> None:
    before = accepted.files()

    mv(accepted, old, new, says=says, status=1)

    assert accepted.files() == before


def test_an_id_in_several_files_wants_the_name_of_one(accepted: Mind) -> None:
    accepted.cases("one", name="b.fc.yaml")
    accepted.run("--fc-accept")

    mv(
        accepted,
        "one",
        "uno",
        says="'one' is in cases/a.fc.yaml and cases/b.fc.yaml: choose one by FILE::one",
        status=1,
    )
    mv(accepted, "cases/b.fc.yaml::one", "uno")

    assert list(read_stanzas(accepted.baseline())) == ["one", "two"]


def test_nothing_of_another_file_is_overwritten(accepted: Mind) -> None:
    accepted.cases("three", name="b.fc.yaml")
    accepted.run("--fc-accept")
    before = accepted.files()

    mv(accepted, "cases/a.fc.yaml", "cases/b.fc.yaml", says="b.fc.yaml.accepted exists already", status=1)

    assert accepted.files() == before


def test_a_damaged_baseline_is_named(accepted: Mind) -> None:
    accepted.baseline().write_text("nothing")

    mv(accepted, "one", "uno", says="not a baseline file", status=1)
