"""The accounts of a run, in a file beside that of the run."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pytest_fcall.tracking import run_accounts
from pytest_fcall.tracking.run_accounts import (
    AccountWriter,
    account_line,
    accounts_path,
    join_accounts,
    read_accounts,
    remove_old_accounts,
)


def written(folder: Path, run: str, *nodeids: str) -> Path:
    """The accounts of these cases, beside a file of the run."""
    path = folder / f"{run}.json"
    path.write_text("{}", "utf-8")
    writer = AccountWriter(accounts_path(path))
    for nodeid in nodeids:
        writer.add(account_line({"nodeid": nodeid}))
    writer.close()
    assert writer.fault is None
    return accounts_path(path)


def read(path: Path) -> list[object]:
    return [nodeid for nodeid, _ in read_accounts(path)]


def test_accounts_are_read_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    assert read(written(tmp_path, "run", "a", "ü\n", "b")) == ["a", "ü\n", "b"]


def test_without_a_file_there_are_none(tmp_path: Path) -> None:
    assert read(tmp_path / "run.accounts.jsonl.gz") == []
    assert not written(tmp_path, "run").exists()


def test_a_file_that_breaks_off_has_what_came_before(tmp_path: Path) -> None:
    path = written(tmp_path, "run", *(f"case {number}" for number in range(5_000)))
    path.write_bytes(path.read_bytes()[:-200])

    found = read(path)

    assert found[:2] == ["case 0", "case 1"]
    assert len(found) < 5_000


def test_a_file_that_is_none_has_no_accounts(tmp_path: Path) -> None:
    path = written(tmp_path, "run", "a")
    path.write_bytes(b"no gzip")
    assert read(path) == []


@pytest.mark.parametrize("account", ['{"nodeid": {}}', '{"nodeid": [1]}', "{}", "[]", "{"])
def test_an_account_of_no_test_is_left_out(tmp_path: Path, account: str) -> None:
    path = written(tmp_path, "run", "a")
    path.write_bytes(path.read_bytes() + gzip.compress(account.encode() + b"\n"))
    assert read(path) == ["a"]


def test_what_cannot_be_written_as_json_is_left_out(tmp_path: Path) -> None:
    endless: list[object] = []
    endless.append(endless)
    assert account_line({"nodeid": "a", "settings": endless}) == ""  # type: ignore[dict-item]  # what a plugin may do


def test_several_files_are_joined(tmp_path: Path) -> None:
    parts = [written(tmp_path, "one", "a"), written(tmp_path, "two", "b"), tmp_path / "three.accounts.jsonl.gz"]
    join_accounts(tmp_path / "all.accounts.jsonl.gz", parts)
    assert read(tmp_path / "all.accounts.jsonl.gz") == ["a", "b"]


def test_a_full_disk_is_noted_and_ends_the_writing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    writer = AccountWriter(tmp_path / "file" / "run.accounts.jsonl.gz")
    writer.add("{}")
    writer.close()
    assert isinstance(writer.fault, OSError)


@pytest.mark.parametrize(("runs", "kept"), [(3, 3), (25, 20)])
def test_the_accounts_of_the_newest_runs_are_kept(tmp_path: Path, runs: int, kept: int) -> None:
    for number in range(runs):
        written(tmp_path, f"run{number:02}", "a")
    remove_old_accounts(tmp_path)
    names = sorted(path.name for path in tmp_path.glob("*.gz"))
    assert len(names) == kept
    assert names[-1].startswith(f"run{runs - 1:02}")


def test_accounts_without_their_run_are_removed(tmp_path: Path) -> None:
    path = written(tmp_path, "run", "a")
    (tmp_path / "run.json").unlink()
    remove_old_accounts(tmp_path)
    assert not path.exists()


def test_after_a_full_disk_nothing_more_is_tried(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    writer = AccountWriter(tmp_path / "file" / "run.accounts.jsonl.gz")
    writer.add("{}")
    (tmp_path / "file").unlink()
    writer.add("{}")
    writer.close()
    assert not (tmp_path / "file").exists()


def test_an_account_that_cannot_be_written_makes_no_file(tmp_path: Path) -> None:
    writer = AccountWriter(tmp_path / "run.accounts.jsonl.gz")
    writer.add("")
    writer.close()
    assert [*tmp_path.iterdir()] == []


def test_of_parts_without_accounts_no_file_is_written(tmp_path: Path) -> None:
    join_accounts(tmp_path / "all.accounts.jsonl.gz", [tmp_path / "none.accounts.jsonl.gz"])
    assert [*tmp_path.iterdir()] == []


def test_accounts_beyond_all_room_are_removed_but_for_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [written(tmp_path, f"run{number}", "a") for number in range(4)]
    size = paths[0].stat().st_size
    monkeypatch.setattr(run_accounts, "_MOST_BYTES", 2 * size)
    remove_old_accounts(tmp_path)
    assert [path.exists() for path in paths] == [False, False, True, True]
    monkeypatch.setattr(run_accounts, "_MOST_BYTES", 1)
    remove_old_accounts(tmp_path)
    assert [path.exists() for path in paths] == [False, False, False, True]
