from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Json
from pytest_fcall.tracking.run_file import (
    RunFile,
    RunFileError,
    read_run,
    read_run_by_rows,
    remove_old_runs,
    run_paths,
    runs_folder,
    write_run,
)

RUN = RunFile(
    id="20261121-190000-abcd",
    started="2026-11-21T19:00:00+00:00",
    results={"results": [{"nodeid": "cases/a.fc.yaml::oslo"}]},
    models=("openai:gpt-5.2", "local:smollm2"),
    gates=("accuracy>=0.9",),
    fail="gates",
    failed={"verdicts": True, "otherwise": False},
    broken_off=True,
    shard=(3, 8),
    provenance={"commit": "abc", "dirty": False},
)


def test_a_run_comes_back_as_it_went(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "one.json"
    write_run(path, RUN)
    assert read_run(path) == RUN
    assert [each.name for each in path.parent.iterdir()] == ["one.json"]


def test_a_run_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "one.json").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_run(tmp_path / "one.json", RUN)
    assert [each.name for each in tmp_path.iterdir()] == ["one.json"]


def test_the_oldest_runs_are_forgotten(tmp_path: Path) -> None:
    for number in range(5):
        write_run(runs_folder(tmp_path) / f"2026112{number}-000000-aaaa.json", RUN)
    remove_old_runs(tmp_path, 2)
    assert [path.name[:8] for path in run_paths(tmp_path)] == ["20261123", "20261124"]
    remove_old_runs(tmp_path, 2)
    assert len(run_paths(tmp_path)) == 2


def test_large_runs_are_forgotten_sooner_but_for_the_last_two(tmp_path: Path) -> None:
    for number in range(5):
        write_run(runs_folder(tmp_path) / f"2026112{number}-000000-aaaa.json", RUN)
    size = run_paths(tmp_path)[0].stat().st_size
    remove_old_runs(tmp_path, 100, max_bytes=3 * size)
    assert [path.name[:8] for path in run_paths(tmp_path)] == ["20261122", "20261123", "20261124"]
    remove_old_runs(tmp_path, 100, max_bytes=1)
    assert len(run_paths(tmp_path)) == 2


def test_where_none_is_kept_there_is_none(tmp_path: Path) -> None:
    assert run_paths(tmp_path) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fcall_run": None}, "`fcall_run` is missing"),
        ({"id": 5}, "`id` is not a string"),
        ({"results": []}, "`results` is not a mapping"),
        ({"models": [1]}, "`models` is not a list of strings"),
        ({"gates": "accuracy>=1"}, "`gates` is not a list"),
        ({"shard": [0, 3]}, "`shard` must be [number, total]"),
        ({"shard": [4, 3]}, "`shard` must be [number, total]"),
        ({"broken_off": "no"}, "`broken_off` is not true or false"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = tmp_path / "one.json"
    write_run(path, RUN)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(RunFileError) as raised:
        read_run(path)
    assert str(raised.value).startswith(f"{path}: not a run file: {said}")


def test_a_file_of_a_later_version_asks_for_an_update(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    write_run(path, RUN)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"fcall_run": 99}))
    with pytest.raises(RunFileError, match=r"one\.json: a later pytest-fcall wrote it in version 99 .*: update"):
        read_run(path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"7", b"[" * 100_000, b"9" * 5_000])
def test_what_is_no_run_is_told_in_a_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "one.json"
    path.write_bytes(content)
    with pytest.raises(RunFileError) as raised:
        read_run(path)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_told_too(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="cannot be read: No such file"):
        read_run(tmp_path / "none.json")


def test_a_run_that_says_nothing_of_what_made_it_has_an_empty_provenance(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    write_run(path, RUN)
    path.write_text(
        json.dumps({name: value for name, value in json.loads(path.read_text()).items() if name != "provenance"})
    )
    assert read_run(path) == RUN._replace(provenance={})


def test_fields_of_a_later_version_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    write_run(path, RUN)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"weather": "fine"}))
    assert read_run(path) == RUN


def rows_of(path: Path) -> list[Json]:
    _, rows = read_run_by_rows(path)
    return [*rows]


@pytest.mark.parametrize("indent", [None, 1], ids=["as it was written", "as somebody has formatted it"])
@pytest.mark.parametrize("rows", [[], [{"case": "oslo"}], [{"case": "oslo"}, {"ends": {"alike": [{"x": [{}]}]}}, 7]])
def test_a_run_is_read_result_by_result(tmp_path: Path, rows: list[Json], indent: int | None) -> None:
    path = tmp_path / "one.json"
    write_run(path, RUN._replace(results={"results": rows}))
    if indent:
        path.write_text(json.dumps(json.loads(path.read_text()), indent=indent))

    head, _ = read_run_by_rows(path)

    assert (head.id, head.parts, head.provenance) == (RUN.id, RUN.parts, RUN.provenance)
    assert indent or not head.rows
    assert rows_of(path) == rows


def test_something_else_in_the_place_of_results_is_refused_or_none(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    write_run(path, RUN)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"results": {"results": "oslo"}}))
    assert read_run(path).rows == ()
    with pytest.raises(RunFileError, match="`results` is not a list"):
        read_run_by_rows(path)


@pytest.mark.parametrize("kept", range(1, 20))
def test_results_of_a_torn_file_end_in_words(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "one.json"
    write_run(path, RUN._replace(results={"results": [{"case": "oslo"}, {"case": "rome"}]}))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * kept // 20])
    with pytest.raises(RunFileError, match=r"one\.json: not a run file: "):
        rows_of(path)
