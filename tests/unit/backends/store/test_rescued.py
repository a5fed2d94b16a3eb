"""Replies that the database could not take wait in a file, and come into the database from there."""

from __future__ import annotations

import stat
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from pytest_fcall.backends.store import NewReply, ReplyStore, is_rescued
from tests.unit.backends.store.entries import FILE, MODEL, entries, found, put_replies

WAITING = entries(range(20), text="x" * 500)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "replies.db"


def rescue(path: Path) -> Path:
    with closing(ReplyStore(path)) as store:
        return store.rescue(NewReply(MODEL, FILE, each) for each in WAITING)


def test_who_opens_the_database_next_takes_them_in(path: Path) -> None:
    rescued = rescue(path)
    assert is_rescued(rescued)
    assert not path.exists()
    with closing(ReplyStore(path)) as store:
        put_replies(store, entries([100]))
        assert not store.faults
    assert found(path, WAITING) == 20
    assert not rescued.exists()


def test_they_come_with_their_tools_and_belong_to_their_cases(path: Path) -> None:
    rescue(path)
    with closing(ReplyStore(path)) as store:
        store.try_out()
        kept = [each.entry for each in store.replies(MODEL, FILE)]
    assert sorted(kept, key=lambda each: each.digest) == sorted(WAITING, key=lambda each: each.digest)


def test_a_newer_reply_is_not_replaced(path: Path) -> None:
    newer = [*entries(range(20), text="newer")]
    with closing(ReplyStore(path)) as store:
        put_replies(store, newer)
    rescue(path)
    assert found(path, newer) == 20


def test_damaged_lines_are_passed_over(path: Path) -> None:
    rescued = rescue(path)
    lines = rescued.read_text().splitlines()
    assert "x" not in lines[1][-20:]
    changed = [lines[1].replace('"', "'"), lines[2].replace("e", "f"), "[" * 100_000, "null", '[["?"]]', f"[{10**30}]"]
    rescued.write_text("\n".join([lines[0], *changed, *lines[3:]]))
    with closing(ReplyStore(path)) as store:
        store.try_out()
    assert found(path, WAITING) == 18


def test_where_nothing_can_be_written_beside_it_they_go_among_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "file").touch()
    rescued = rescue(tmp_path / "file/replies.db")
    assert (rescued.parent, is_rescued(rescued)) == (tmp_path, True)
    path = tmp_path / "replies.db"
    with closing(ReplyStore(path)) as store:
        store.try_out()
        assert rescued.exists()
        assert store.take_in(rescued) == 20
    assert found(path, WAITING) == 20
    assert not rescued.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_nobody_else_can_read_them(path: Path) -> None:
    assert stat.S_IMODE(rescue(path).stat().st_mode) == 0o600
