from __future__ import annotations

import pytest

from tests.by_night import by_night
from tests.integration.mind import WRONG, Mind, lines_with


@pytest.fixture
def stale(mind: Mind) -> Mind:
    """A case and a file are gone."""
    mind.cases("one", "two")
    mind.cases("three", name="gone.fc.yaml")
    mind.run("--fc-accept")
    mind.cases("one")
    (mind.path / "cases" / "gone.fc.yaml").unlink()
    return mind


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_what_is_accepted_of_cases_that_are_gone_is_told_and_stays(stale: Mind, workers: str) -> None:
    before = stale.files()

    result = stale.run(workers, "--fc-report=r.md")

    assert "2 stale" in (stale.path / "r.md").read_text(encoding="utf-8")
    result.stdout.fnmatch_lines(
        [
            "accepted, and gone: two (cases/__fcall__/*/a.fc.yaml.accepted); --fc-prune forgets them",
            "accepted, and gone: three (cases/__fcall__/*/gone.fc.yaml.accepted); --fc-prune forgets them",
        ]
    )
    assert stale.files() == before


@pytest.mark.parametrize("args", [by_night(("-n0",)), ("-n2",), ("cases",)])
def test_a_complete_and_clean_run_forgets_them(stale: Mind, args: tuple[str, ...]) -> None:
    result = stale.run("--fc-prune", "--fc-report=r.md", *args)

    assert "stale" not in (stale.path / "r.md").read_text(encoding="utf-8")
    result.stdout.fnmatch_lines(["pruned: two (*)", "pruned: three (*)"])
    (content,) = stale.files().values()
    assert b"one" in content
    assert b"two" not in content
    assert not lines_with(stale.run(), "gone")


@pytest.mark.parametrize(
    "narrowing",
    [
        # Each option has a line of its own in a table.
        ("-k", "one"),
        ("-m", "not slow"),
        ("--deselect=cases/a.fc.yaml::nobody",),
        ("--lf", "-p", "cacheprovider"),
        ("--stepwise", "-p", "cacheprovider", "-p", "stepwise"),
        ("--ignore=cases/b.fc.yaml",),
        ("--ignore-glob=*/b.fc.yaml",),
        ("--fc-shard=1/1",),
        ("cases/a.fc.yaml",),
        by_night(("cases/a.fc.yaml::one",)),
        by_night(("-n2", "-k", "one")),
    ],
    ids=" ".join,
)
def test_a_narrowed_run_forgets_nothing(stale: Mind, narrowing: tuple[str, ...]) -> None:
    before = stale.files()

    result = stale.run("--fc-prune", *narrowing)

    assert stale.files() == before
    assert lines_with(result, "not pruned, since the run was narrowed")


@pytest.mark.parametrize("nothing", ["--collect-only", "--fc-dry-run"])
def test_where_nothing_runs_nothing_is_forgotten(stale: Mind, nothing: str) -> None:
    before = stale.files()

    stale.run("--fc-prune", nothing)

    assert stale.files() == before


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_what_is_gone_may_be_forgotten_while_other_cases_fail(stale: Mind, workers: str) -> None:
    stale.says({"one": WRONG})

    result = stale.run("--fc-prune", workers)

    assert result.ret == 1
    result.stdout.fnmatch_lines(["pruned: two (*)", "pruned: three (*)"])
    (content,) = stale.files().values()
    assert b"two" not in content


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_a_run_that_was_broken_off_forgets_nothing(stale: Mind, workers: str) -> None:
    stale.says({"one": WRONG})
    before = stale.files()

    result = stale.run("--fc-prune", "-x", workers)

    assert stale.files() == before
    assert lines_with(result, "not pruned, since the run was broken off")


def test_files_that_could_not_be_read_are_left_alone(stale: Mind) -> None:
    stale.cases("one", "two", expect="[{get_wether: {}}]")
    before = {path: content for path, content in stale.files().items() if "a.fc" in path}

    stale.cases("four", name="d.fc.yaml")
    stale.run("--fc-prune", "--deselect=cases/a.fc.yaml::one")
    stale.run("--fc-prune")

    assert before.items() <= stale.files().items()


def test_other_models_keep_what_they_have(stale: Mind) -> None:
    stale.run("--fc-model=python:mind:other", "--fc-accept")
    stale.cases("five")
    before = stale.baseline(model="python:mind:other").read_bytes()

    stale.run("--fc-prune")

    assert stale.baseline(model="python:mind:other").read_bytes() == before
