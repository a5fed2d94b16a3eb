"""Several processes, and processes that come to a bad end."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pytest_fcall.backends.processes.locks import hold_lock
from pytest_fcall.backends.store import ReplyStore, StoreError
from pytest_fcall.backends.store.address import StorePlace
from pytest_fcall.backends.store.sqlite.repair import set_aside
from tests.unit.backends.store.entries import FILE, MODEL, argument_of, entries, entry, found, put_replies
from tests.unit.backends.store.processes import python, writer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "replies.db"


def test_writers_at_the_same_time_lose_nothing(place: StorePlace) -> None:
    writers = [writer(place, first, first + 200) for first in (0, 200, 100)]
    for each in writers:
        output, errors = each.communicate(timeout=60)
        assert (each.returncode, errors) == (0, "")
        assert len(output.splitlines()) == 200
    assert found(place, entries(range(400), text="x" * 500)) == 400


@pytest.mark.parametrize("kept", [1, 2, 37, 110])
def test_a_writer_that_is_killed_loses_nothing_that_it_kept(place: StorePlace, kept: int) -> None:
    with writer(place, 0, 100_000) as process:
        assert process.stdout is not None
        for number in range(kept):
            assert process.stdout.readline() == f"{number}\n"
        process.send_signal(signal.SIGKILL)
        said = [*range(kept), *map(int, process.stdout.read().split())]
    assert found(place, entries(said, text="x" * 500)) == len(said)
    with closing(ReplyStore(place)) as store:
        store.put(MODEL, FILE, entry("next"))
        assert not store.faults


def test_a_full_disk_is_told_in_a_line_and_earlier_replies_are_intact(path: Path) -> None:
    output, errors = writer(path, 0, 10_000, limit="300000").communicate(timeout=60)
    *kept, told = output.splitlines()
    assert errors == ""
    assert told == f"recorded replies in {path}: reading or writing failed; check whether the disk is full or failing"
    assert len(kept) > 5
    assert found(path, entries([int(number) for number in kept], text="x" * 500)) == len(kept)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ["-t", "tmpfs", "-o", "size=512k", "fcall-test", str(disk)]
    if sys.platform != "linux" or subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.needs("mount")
def test_once_there_is_room_again_replies_are_kept_again(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(200_000))
    path = small_disk / "replies.db"
    kept = 0

    def keep_until_full(store: ReplyStore) -> None:
        nonlocal kept
        for kept in range(10_000):
            store.put(MODEL, FILE, entry(kept))

    with closing(ReplyStore(path)) as store:
        with pytest.raises(StoreError, match="the disk is full; free some space and run again"):
            keep_until_full(store)
        assert kept > 5
        assert found(path, entries(range(kept))) == kept
        ballast.unlink()
        store.put(MODEL, FILE, entry(kept))
    assert found(path, entries(range(kept + 1))) == kept + 1


CLAIM = """
import sys
from pytest_fcall.backends.store import ReplyStore
from tests.unit.backends.store.entries import place_of
store = ReplyStore(place_of(sys.argv[1]))
print(store.claim("digest", "master"), flush=True)
sys.stdin.read()
store.close()
"""


def test_one_process_asks_and_the_others_wait(place: StorePlace) -> None:
    with python("-c", CLAIM, argument_of(place)) as asking, closing(ReplyStore(place)) as store:
        assert asking.stdout is not None
        assert asking.stdout.readline() == "True\n"
        assert not store.claim("digest", "master")
        assert store.claim("another", "master")
        asking.communicate("")
        assert store.claim("digest", "master")


def test_the_claims_of_a_dead_process_lapse(path: Path) -> None:
    with python("-c", CLAIM, str(path)) as asking, closing(ReplyStore(path)) as store:
        assert asking.stdout is not None
        assert asking.stdout.readline() == "True\n"
        assert not store.claim("digest", "other")
        asking.kill()
        asking.wait()
        assert store.claim("digest", "other")
        assert not store.claim("digest", "third")
    assert not list(path.parent.glob("*.alive"))


def test_a_claim_is_for_one_owner_until_it_is_released_or_the_reply_is_kept(place: StorePlace) -> None:
    with closing(ReplyStore(place)) as store:
        assert store.claim(entry().digest, "a")
        assert store.claim(entry().digest, "a")
        assert not store.claim(entry().digest, "b")
        store.release(entry().digest, "b")
        assert not store.claim(entry().digest, "b")
        store.release(entry().digest, "a")
        assert store.claim(entry().digest, "b")
        store.put(MODEL, FILE, entry())
        assert store.claim(entry().digest, "a")


def test_who_cannot_tell_others_may_ask(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with closing(ReplyStore(tmp_path / "file" / "replies.db")) as store:
        assert store.claim("digest", "a")


FORK = """
import os, sys
from pytest_fcall.backends.store import ReplyStore
from tests.unit.backends.store.entries import FILE, MODEL, entry, place_of
store = ReplyStore(place_of(sys.argv[1]))
store.put(MODEL, FILE, entry("parent"))
child = os.fork()
if not child:
    assert store.find(entry("parent").digest)
    store.put(MODEL, FILE, entry("child"))
    os._exit(0)
print(os.waitpid(child, 0)[1])
store.put(MODEL, FILE, entry("parent again"))
store.close()
"""


def test_a_forked_process_has_a_connection_of_its_own(place: StorePlace) -> None:
    output, errors = python("-c", FORK, argument_of(place)).communicate(timeout=60)
    assert (output, errors) == ("0\n", "")
    assert found(place, [entry("parent"), entry("child"), entry("parent again")]) == 3


def test_what_others_keep_while_a_damaged_file_is_mended_is_not_lost(path: Path) -> None:
    with closing(ReplyStore(path)) as store, writer(path, 1_000, 1_600) as process:
        assert process.stdout is not None
        for start in range(0, 100, 20):
            process.stdout.readline()
            put_replies(store, entries(range(start, start + 20)))
            with hold_lock(path.with_name("replies.db.lock"), timeout=30):
                set_aside(path)
            with closing(ReplyStore(path)) as finder:
                finder.claim("makes it open", "the file")
                assert ["were damaged" in fault.message for fault in finder.faults] in ([True], [])
        assert process.stdout.read().split()[-1] == "1599"
    assert found(path, entries(range(100))) == 100
    assert found(path, entries(range(1_000, 1_600), text="x" * 500)) == 600
    assert len(list(path.parent.glob("replies.damaged-*.db"))) == 5
