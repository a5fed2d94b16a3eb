"""What is kept of models that the configuration does not name any more is told at the end of a whole run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.integration.mind import Mind, lines_with

OTHER = "python:mind:other"
KEPT = "kept of models that fc_model does not name: "
CONFIGURATION = "[pytest]\nfc_model = {}\n"


@pytest.fixture
def dropped(mind: Mind) -> Mind:
    """Two cases that were accepted of two models, of which the configuration names one."""
    mind.cases("one", "two")
    mind.run(f"--fc-model={OTHER}", "--fc-accept")
    mind.shop.file("pytest.ini", CONFIGURATION.format(mind.model))
    return mind


def folder(mind: Mind, model: str = OTHER) -> Path:
    return mind.baseline(model=model).parent


def told(mind: Mind, *args: str) -> list[str]:
    result = mind.shop.run(*args)
    assert result.ret == 0, result.stdout.str()
    return lines_with(result, KEPT)


@pytest.mark.parametrize(
    "args", [("-n0",), *map(by_night, [("cases",), ("-n2",), ("-q",), ("--fc-replay",)])], ids=" ".join
)
def test_the_folder_of_a_model_that_was_dropped_is_told(dropped: Mind, args: tuple[str, ...]) -> None:
    path = folder(dropped).relative_to(dropped.path).as_posix()

    assert told(dropped, *args) == [f"{KEPT}{path}; --fc-prune forgets it"]
    assert folder(dropped).is_dir()


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_pruning_removes_it_and_nothing_else(dropped: Mind, workers: str) -> None:
    note = folder(dropped) / "note.txt"
    note.touch()
    before = dropped.baseline().read_bytes()

    result = dropped.shop.run("--fc-prune", workers)

    result.stdout.fnmatch_lines([f"pruned: cases/__fcall__/{note.parent.name}"])
    assert [*note.parent.iterdir()] == [note]
    assert dropped.baseline().read_bytes() == before
    note.unlink()
    assert not told(dropped)


def test_a_folder_without_anything_else_goes(dropped: Mind) -> None:
    path = folder(dropped)
    dropped.shop.run("--fc-prune")

    assert not path.exists()


@pytest.mark.parametrize(
    "args",
    [
        ("-k", "one or two"),
        by_night(("-m", "not slow")),
        by_night(("cases/a.fc.yaml",)),
        by_night(("--deselect=cases/a.fc.yaml::nobody",)),
        by_night(("--fc-shard=1/1",)),
        ("--fc-model=python:mind:answer",),
        ("--fc-baseline=python:mind:answer",),
        ("-o", "fc_model=python:mind:answer"),
        ("-c", "pytest.ini"),
        by_night(("-n2", "-k", "one")),
    ],
    ids=" ".join,
)
def test_nothing_is_told_or_removed_in_a_run_of_less_or_of_chosen_models(dropped: Mind, args: tuple[str, ...]) -> None:
    assert not told(dropped, *args)
    dropped.shop.run("--fc-prune", *args)

    assert folder(dropped).is_dir()


@pytest.mark.parametrize("nothing", ["--collect-only", "--fc-dry-run"])
def test_nothing_is_told_where_nothing_runs(dropped: Mind, nothing: str) -> None:
    assert not told(dropped, nothing)


def test_nothing_is_told_where_the_configuration_names_no_model(dropped: Mind) -> None:
    dropped.shop.file("pytest.ini", "[pytest]\n")
    dropped.shop.file("conftest.py", "import pytest\n@pytest.fixture\ndef fc_model(): return 'python:mind:answer'\n")

    assert not told(dropped)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".github/workflows/nightly.yml", "run: pytest --fc-model=python:mind:other --fc-live"),
        (".gitlab-ci.yml", "script: [pytest --fc-model python:mind:other]"),
        ("nightly.ini", "[pytest]\nfc_model =\n    python:mind:other?temperature=0\n"),
        ("Makefile", "evals:\n\tpytest --fc-model='python:mind:other'\n"),
        ("cases/pytest.toml", "[pytest]\nfc_model = ['python:mind:other']\n"),
        ("cases/conftest.py", "OTHER = 'python:mind:other'\n"),
    ],
)
def test_a_model_that_another_configuration_or_a_workflow_names_is_no_leftover(
    dropped: Mind, name: str, text: str
) -> None:
    dropped.shop.file(name, text)

    assert not told(dropped)


def test_the_model_that_judges_and_models_of_entries_are_no_leftovers(dropped: Mind) -> None:
    dropped.shop.file("pytest.ini", CONFIGURATION.format(f"{dropped.model}\nfc_judge = {OTHER}"))
    assert not told(dropped)
    dropped.shop.file("pytest.ini", CONFIGURATION.format(dropped.model))
    dropped.shop.file("pyproject.toml", "[tool.fcall.models.cheap]\nmodel = 'openai:gpt-5-mini'\n")
    folder(dropped).rename(folder(dropped).with_name("openai-cheap"))
    assert not told(dropped)


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_a_model_that_a_fixture_chooses_is_no_leftover(dropped: Mind, workers: str) -> None:
    code = "import pytest\n@pytest.fixture\ndef fc_model(): return 'python:mind:' + 'other'\n"
    dropped.shop.file("conftest.py", code)

    assert not told(dropped, workers)


def test_what_belongs_to_files_that_were_not_read_is_no_leftover(dropped: Mind) -> None:
    dropped.shop.file("pytest.ini", CONFIGURATION.format(dropped.model) + "fc_files = *.fc.yaml\n")
    dropped.shop.file("cases/other.yaml", "cases:\n  - {id: one, prompt: one, expect: no_call}\n")
    (folder(dropped) / "other.yaml.accepted").touch()

    assert not told(dropped)


@pytest.mark.parametrize("name", ["wire-gpt-5.2", by_night("app-tests"), by_night("mcp-shop")])
def test_replies_to_what_nobody_tests_by_name_are_no_leftovers(dropped: Mind, name: str) -> None:
    kept = folder(dropped).with_name(name) / "a.fc.yaml.replies.jsonl"
    folder(dropped).rename(kept.parent)
    for path in kept.parent.iterdir():
        path.unlink()
    kept.touch()

    assert not told(dropped)
    kept.parent.rename(kept.parent.with_name("openai-old"))
    assert told(dropped) == [f"{KEPT}cases/__fcall__/openai-old; --fc-prune forgets it"]


def test_a_run_that_fails_tells_it_and_fails_for_what_failed(dropped: Mind) -> None:
    dropped.says({"one": "nothing"})

    result = dropped.shop.run()

    assert result.ret == 1
    assert lines_with(result, KEPT)
