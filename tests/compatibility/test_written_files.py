"""Files that earlier versions wrote are read, and mean what they meant; those of later versions ask for an update."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from pytest_fcall.core.json_data import read_json
from tests.compatibility.written_files import AGENT, KEPT, PLAN, REPLIES, RUN, VERSIONS, this_version, write_version
from tests.integration.command import fcall, run_pytest

WRITTEN = sorted(path.name for path in VERSIONS.iterdir())
CASES = {"oslo", "both", "bergen", "thanks", "now_and_then", "talk"}


@pytest.fixture(params=WRITTEN)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The project as a version left it."""
    return copied(request.param, tmp_path)


def copied(version: str, folder: Path) -> Path:
    project = folder / "project"
    shutil.copytree(VERSIONS / version, project)
    (project / KEPT).rename(project / ".fcall")
    return project


def replay(project: Path, *arguments: str) -> dict[str, Any]:
    """Run without asking anybody; the results by case."""
    run_pytest(project, "-q", "--fc-replay", "--fc-report=now.json", *arguments)
    results = json.loads((project / "now.json").read_text("utf-8"))["results"]["results"]
    return {each["case"]: each for each in results}


def remove_recordings(project: Path) -> None:
    for path in project.glob("cases/__fcall__/*/*.jsonl"):
        if ".measured." not in path.name:
            path.unlink()


def test_recorded_replies_answer_and_verdicts_are_those_that_were_accepted(project: Path) -> None:
    shutil.rmtree(project / ".fcall")
    results = replay(project, "cases/weather.fc.yaml")
    assert {name: each["outcome"] for name, each in results.items()} == {
        name: "known failure" if name == "bergen" else "ok" for name in CASES
    }
    assert results["now_and_then"]["samples"] == [2, 3]
    assert results["bergen"]["before"] == [0, 1]
    assert results["bergen"]["reasons"] == [["missing_argument", "calls[0].args.unit"]]


def test_an_agent_runs_on_the_answers_of_its_model(project: Path) -> None:
    shutil.rmtree(project / ".fcall")
    result = replay(project, AGENT, "cases/agent.fc.yaml")["inside"]
    assert (result["outcome"], result["way"], len(result["inside"])) == ("ok", "proxy", 1)


def test_a_store_answers_alone(project: Path) -> None:
    remove_recordings(project)
    results = replay(project, "cases/weather.fc.yaml")
    assert {name for name, each in results.items() if each["replayed"] and each["outcome"] == "ok"} == CASES - {
        "bergen"
    }


def test_replies_that_were_made_elsewhere_for_a_plan_are_taken(project: Path) -> None:
    remove_recordings(project)
    (project / ".fcall" / "replies.db").unlink()
    said = fcall(project, "record", "--from", REPLIES, "--plan", "next.jsonl", "cases/weather.fc.yaml").stdout
    assert f"{REPLIES}: 8 replies taken" in said
    planned = [json.loads(line) for line in (project / PLAN).read_text("utf-8").splitlines()]
    assert all(set(row) >= {"digest", "model", "messages", "sample"} for row in planned if "digest" in row)


def test_a_run_can_be_compared_shown_accepted_and_reported(project: Path) -> None:
    compared = fcall(project, "compare", RUN, RUN)
    assert compared.returncode == 0
    assert "openai:exam" in compared.stdout
    assert "Weather in Oslo?" in fcall(project, "show", "oslo").stdout
    assert fcall(project, "history").returncode == 0
    report = fcall(project, "report", RUN, "-o", "report.html", "-o", "report.md")
    assert report.returncode == 0, report.stderr
    accepted = next(project.glob("cases/__fcall__/openai-exam/*.accepted"))
    before = accepted.read_bytes()
    accepted.unlink()
    assert fcall(project, "accept").returncode == 0
    assert before.startswith(accepted.read_bytes()[:20])


def test_the_schema_of_run_files_takes_it(project: Path) -> None:
    schema = json.loads(fcall(project, "schema", "run").stdout)
    for path in (project / RUN, *project.glob(".fcall/runs/*.json")):
        assert Draft202012Validator(schema).is_valid(read_json(path.read_bytes()))


def test_rounds_go_on(project: Path) -> None:
    said = fcall(project, "record", "--rounds")
    assert said.stdout.splitlines()[-1] == "nothing is open"
    assert not said.stderr


def raise_version(project: Path, pattern: str, mark: str) -> None:
    """Turn the files into those of a later version, which none of today knows."""
    paths = [*project.glob(pattern)]
    assert paths
    for path in paths:
        content, changes = re.subn(f"({mark})[0-9]+", r"\g<1>99", path.read_text("utf-8"), count=1)
        assert changes
        path.write_text(content, "utf-8")


LATER: dict[str, tuple[str, str, Callable[[Path], Any]]] = {
    "recordings": (
        "cases/__fcall__/*/*.replies.jsonl",
        '"version": ',
        lambda project: run_pytest(project, "--fc-replay", "cases/weather.fc.yaml"),
    ),
    "their bookkeeping": (
        "cases/__fcall__/*/*.recorded.jsonl",
        '"version": ',
        lambda project: run_pytest(project, "--fc-replay", "cases/weather.fc.yaml"),
    ),
    "a baseline": (
        "cases/__fcall__/*/*.accepted",
        "# pytest-fcall baseline ",
        lambda project: run_pytest(project, "--fc-replay", "cases/weather.fc.yaml"),
    ),
    "a run": (RUN, '"fcall_run": *', lambda project: fcall(project, "compare", RUN, RUN)),
    "rounds": (".fcall/rounds.json", '"fcall_rounds": ', lambda project: fcall(project, "record", "--rounds")),
}


@pytest.mark.parametrize("name", LATER)
def test_a_file_of_a_later_version_is_not_guessed_at(tmp_path: Path, name: str) -> None:
    pattern, mark, read = LATER[name]
    project = copied(this_version(), tmp_path)
    if name != "rounds":
        shutil.rmtree(project / ".fcall")
    raise_version(project, pattern, mark)
    done = read(project)
    said = " ".join((done.stdout + done.stderr).split())
    assert "a later pytest-fcall wrote it in version 99 of its format" in said
    assert "update pytest-fcall" in said
    assert done.returncode != 0


def test_what_this_version_writes_is_what_is_kept_of_it(tmp_path: Path) -> None:
    """A change of a format fails here first: `python -m tests.compatibility` writes the files of this version anew."""
    write_version(tmp_path / "project")
    written, kept = shapes(tmp_path / "project"), shapes(VERSIONS / this_version())
    assert written == kept


def shapes(folder: Path) -> dict[str, Any]:
    """Each file by its path: keys, types and words, without what differs from run to run."""
    found: dict[str, list[Any]] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".json", ".jsonl", ".accepted"):
            name = re.sub(r"\d{8}-\d{6}-[0-9a-f]{4}", "RUN", path.relative_to(folder).as_posix())
            found.setdefault(name, []).append([*_shape_of(path)])
    return {name: sorted(each, key=json.dumps) for name, each in found.items()}


def _shape_of(path: Path) -> Iterator[Any]:
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        yield _typed(read_json(text.encode()))
    elif path.suffix == ".jsonl":
        yield from sorted((_typed(read_json(line.encode())) for line in text.splitlines()), key=json.dumps)
    else:
        yield text


def _typed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return sorted({json.dumps(_typed(inner), sort_keys=True) for inner in value})
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__
