"""Files that something else wrote to: what is readable is kept, and nothing is taken for a reply that is none."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_fcall.backends.store import ReplyStore, StoreError
from pytest_fcall.backends.store.sqlite.tables import migrate
from tests.unit.backends.store.entries import FILE, MODEL, entries, entry, found, put_replies

LONG = "a long answer " * 500
SHORT, LONG_ONES = entries(range(150)), entries(range(1_000, 1_010), text=LONG)
REPLIES = [*SHORT, *LONG_ONES]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database in which everything is in its place."""
    path = tmp_path_factory.mktemp("sound") / "replies.db"
    with closing(ReplyStore(path)) as store:
        put_replies(store, REPLIES)
    return path.parent


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a killed process leaves it: the latest replies are in the log only."""
    folder = tmp_path_factory.mktemp("unfinished")
    path = folder / "before" / "replies.db"
    with closing(ReplyStore(path)) as store:
        put_replies(store, REPLIES[:100])
    with closing(ReplyStore(path)) as store:
        put_replies(store, REPLIES[100:])
        shutil.copytree(path.parent, folder / "after")
    return folder / "after"


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    return shutil.copytree(sound, tmp_path / "copy") / "replies.db"


@pytest.fixture
def path_with_log(unfinished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(unfinished, tmp_path / "copy") / "replies.db"


def change(path: Path, how: Callable[[bytearray], None]) -> None:
    content = bytearray(path.read_bytes())
    how(content)
    path.write_bytes(content)


def noise(length: int) -> bytes:
    return hashlib.shake_128(b"noise").digest(length)


def overwrite(start: int, length: int) -> Callable[[bytearray], None]:
    def work(content: bytearray) -> None:
        content[start : start + length] = noise(min(length, len(content) - start))

    return work


def mended(path: Path) -> list[str]:
    """Open the store, go on as if nothing had been, and return what was told."""
    with closing(ReplyStore(path)) as store:
        store.put(MODEL, FILE, entry("new"))
        found_new = store.find(entry("new").digest)
        assert found_new == entry("new") or (found_new is None and store.faults)
        list(store.replies())
        return [fault.message for fault in store.faults]


@pytest.mark.parametrize("length", [16, 100, 4096])
def test_of_a_file_whose_beginning_was_overwritten_all_replies_are_kept(path: Path, length: int) -> None:
    change(path, overwrite(0, length))
    damaged = path.read_bytes()
    told = mended(path)
    assert told == [
        f"the recorded replies in {path} were damaged: 160 could be read and are kept; "
        "the damaged file is now replies.damaged-1.db"
    ]
    assert found(path, REPLIES) == 160
    assert path.with_name("replies.damaged-1.db").read_bytes() == damaged


def test_what_was_saved_belongs_to_its_case_and_file(path: Path) -> None:
    change(path, overwrite(0, 4096))
    with closing(ReplyStore(path)) as store:
        assert {(kept.model, kept.file, kept.entry.case) for kept in store.replies()} == {
            (MODEL, FILE, reply.case) for reply in REPLIES
        }


def test_of_a_file_that_was_cut_off_the_rest_is_kept(path: Path) -> None:
    change(path, lambda content: content.__delitem__(slice(len(content) // 2, None)))
    assert "were damaged" in mended(path)[0]
    assert 40 < found(path, REPLIES) < 160


def test_of_a_file_that_was_emptied_what_is_in_the_log_is_kept(path_with_log: Path) -> None:
    change(path_with_log, bytearray.clear)
    assert "were damaged" in mended(path_with_log)[0]
    assert found(path_with_log, REPLIES[100:]) == 60


def test_of_a_file_that_was_overwritten_from_end_to_end_what_is_in_the_log_is_kept(path_with_log: Path) -> None:
    path_with_log.write_bytes(noise(40_000))
    assert "were damaged" in mended(path_with_log)[0]
    assert found(path_with_log, REPLIES[100:]) == 60


@pytest.mark.parametrize("content", [b"no database\n" * 1_000, b"\0" * 8192, b"SQLite format 3\0" * 100])
def test_a_file_that_is_no_database_is_set_aside(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert "0 could be read" in mended(path)[0]
    assert path.with_name("replies.damaged-1.db").read_bytes() == content


def test_another_program_s_database_is_set_aside(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE replies (mine); INSERT INTO replies VALUES (1); PRAGMA user_version = 1")
    assert "0 could be read" in mended(path)[0]
    with closing(sqlite3.connect(path.with_name("replies.damaged-1.db"))) as connection:
        assert connection.execute("SELECT mine FROM replies").fetchone() == (1,)


def test_a_word_that_was_changed_on_the_disk_costs_its_own_reply_only(path: Path) -> None:
    change(
        path, lambda content: content.__setitem__(slice(0, None), content.replace(b"Weather in 42?", b"Weather in 43?"))
    )
    (told,) = mended(path)
    assert "a reply was changed on the disk" in told
    assert found(path, REPLIES) == 159


def test_tools_that_were_changed_on_the_disk_are_told_and_the_replies_count(path: Path) -> None:
    change(path, lambda content: content.__setitem__(slice(0, None), content.replace(b"Tell the", b"Hide the")))
    with closing(ReplyStore(path)) as store:
        kept = store.find(SHORT[0].digest)
        assert kept
        assert (kept.reply, kept.request.tools) == (SHORT[0].reply, ())
        assert "a catalogue of tools was changed on the disk" in store.faults[0].message
        store.put(MODEL, FILE, SHORT[1])
        assert store.find(SHORT[0].digest) == SHORT[0]


def test_who_has_the_request_needs_no_tools_from_the_disk(path: Path) -> None:
    change(path, lambda content: content.__setitem__(slice(0, None), content.replace(b"Tell the", b"Hide the")))
    with closing(ReplyStore(path)) as store:
        assert store.find(SHORT[0].digest, request=SHORT[0].request) == SHORT[0]
        assert not store.faults


@example(cut_short=False, file="replies.db", hits=[(0.9864049501274488, 30)])  # a row that leads to another one
@given(
    cut_short=st.booleans(),
    file=st.sampled_from(["replies.db", "replies.db", "replies.db-wal"]),
    hits=st.lists(st.tuples(st.floats(0, 0.99), st.sampled_from([1, 30, 1_000, 20_000])), min_size=1, max_size=4),
)
def test_whatever_is_overwritten_nothing_wrong_is_found(
    sound: Path, unfinished: Path, cut_short: bool, file: str, hits: list[tuple[float, int]]
) -> None:
    with TemporaryDirectory() as folder:
        path = shutil.copytree(unfinished if cut_short else sound, Path(folder, "copy")) / "replies.db"
        target = path.with_name(file)
        for where, length in hits:
            if target.exists():
                change(target, overwrite(int(where * target.stat().st_size), length))
        mended(path)
        with closing(ReplyStore(path)) as store:
            there = [(kept.reply, reply.reply) for reply in REPLIES if (kept := store.find(reply.digest))]
        assert len(there) >= 60
        assert all(kept == reply for kept, reply in there)


def test_damage_during_a_run_is_mended_as_well(path: Path) -> None:
    with closing(ReplyStore(path)) as store:
        assert store.find(SHORT[0].digest)
        change(path, overwrite(4096, path.stat().st_size - 8192))
        for reply in REPLIES:
            store.find(reply.digest)
        store.put(MODEL, FILE, entry("new"))
        assert store.find(entry("new").digest)


def test_mending_that_was_cut_off_goes_on(path: Path) -> None:
    path.rename(path.with_name("replies.mending-1.db"))
    assert "160 could be read" in mended(path)[0]
    assert found(path, REPLIES) == 160
    assert [each.name for each in path.parent.glob("replies.*-1.db")] == ["replies.damaged-1.db"]


def test_damaged_files_are_numbered(path: Path) -> None:
    for _ in range(3):
        change(path, overwrite(0, 100))
        mended(path)
    assert {each.name for each in path.parent.glob("replies.*-*.db")} == {f"replies.damaged-{n}.db" for n in (1, 2, 3)}
    assert found(path, REPLIES) == 160


def test_what_a_newer_version_wrote_is_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute(f"PRAGMA user_version = {version + 1}")
    before = path.read_bytes()
    with closing(ReplyStore(path)) as store:
        with pytest.raises(StoreError, match="a newer pytest-fcall wrote them; update this one"):
            store.put(MODEL, FILE, entry("new"))
        assert store.find(SHORT[0].digest) is None
        assert len(store.faults) == 1
    assert path.read_bytes() == before


def test_a_database_takes_the_steps_that_it_has_not_taken_yet(tmp_path: Path) -> None:
    steps = ["CREATE TABLE a (x);", "ALTER TABLE a ADD COLUMN y;", "CREATE TABLE b (z);"]
    with closing(sqlite3.connect(tmp_path / "x.db", isolation_level=None)) as connection:
        migrate(connection, steps[:1])
        connection.execute("INSERT INTO a VALUES (1)")
        migrate(connection, steps)
        migrate(connection, steps)
        assert connection.execute("SELECT x, y FROM a").fetchall() == [(1, None)]


def test_a_step_that_fails_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection, pytest.raises(sqlite3.Error):
        migrate(connection, ["CREATE TABLE a (x);", "CREATE TABLE a (x);"])
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
