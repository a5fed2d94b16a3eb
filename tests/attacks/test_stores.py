"""Files and stores: whatever is wrong with them, people get a sentence, and nothing that was paid for is lost."""

from __future__ import annotations

import ctypes
import platform
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from pytest_fcall.backends.store import ReplyStore
from pytest_fcall.backends.store.sqlite import file as database
from tests.attacks.commands import said
from tests.by_night import by_night
from tests.integration.command import python
from tests.integration.conftest import QUIET
from tests.integration.exam import Exam, called, towns
from tests.servers import Answer, Asked, chat, echo

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, mounts and permissions of POSIX")

Fault: TypeAlias = Callable[[Path], AbstractContextManager[None]]
"""Something that is wrong with the folder `.fcall`, which is not there yet."""
FCNTL = {"x86_64": 72, "aarch64": 25}
"""The number of the system call that locks files."""
IMPATIENT = 0.05
"""Seconds to wait for a lock that nobody gives back."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "TIMEOUT", IMPATIENT)


@contextmanager
def mounted(folder: Path, size: str = "1m") -> Iterator[Path]:
    """A small disk of its own in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform != "linux" or shutil.which("mount") is None:
        pytest.skip("there is no program that mounts a disk")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "fcall-test", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def make_read_only(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)


def a_sound_store(fcall: Path) -> Path:
    path = fcall / "replies.db"
    with closing(ReplyStore(path)) as store:
        store.try_out()
    return path


@contextmanager
def a_folder(fcall: Path) -> Iterator[None]:
    (fcall / "replies.db").mkdir(parents=True)
    yield


@contextmanager
def a_link_to_nowhere(fcall: Path) -> Iterator[None]:
    fcall.mkdir()
    (fcall / "replies.db").symlink_to(fcall.parent.parent / "nowhere.db")
    yield
    assert not (fcall.parent.parent / "nowhere.db").exists()


@contextmanager
def a_loop_of_links(fcall: Path) -> Iterator[None]:
    fcall.mkdir()
    (fcall / "replies.db").symlink_to("replies.db")
    yield


@contextmanager
def a_link_out(fcall: Path) -> Iterator[None]:
    fcall.mkdir()
    mine = fcall.parent.parent / "mine.txt"
    mine.write_text("a letter")
    (fcall / "replies.db").symlink_to(mine)
    yield
    assert mine.read_text() == "a letter"


@contextmanager
def a_store_of_a_newer_version(fcall: Path) -> Iterator[None]:
    with closing(sqlite3.connect(a_sound_store(fcall))) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute(f"PRAGMA user_version = {version + 3}")
    yield


@contextmanager
def a_locked_store(fcall: Path) -> Iterator[None]:
    with closing(sqlite3.connect(a_sound_store(fcall), isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


@contextmanager
def a_locked_lock(fcall: Path) -> Iterator[None]:
    a_sound_store(fcall)
    with closing(sqlite3.connect(fcall / "replies.db.lock", isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


@contextmanager
def a_file_instead_of_the_folder(fcall: Path) -> Iterator[None]:
    fcall.write_text("a file")
    yield


@contextmanager
def a_folder_that_is_a_link_to_nowhere(fcall: Path) -> Iterator[None]:
    fcall.symlink_to("nowhere")
    yield


@contextmanager
def a_folder_that_is_a_loop(fcall: Path) -> Iterator[None]:
    fcall.symlink_to(fcall.name)
    yield


@contextmanager
def a_read_only_folder(fcall: Path) -> Iterator[None]:
    with mounted(fcall):
        make_read_only(fcall)
        yield


@contextmanager
def a_read_only_store(fcall: Path) -> Iterator[None]:
    with mounted(fcall):
        a_sound_store(fcall)
        make_read_only(fcall)
        yield


@contextmanager
def a_full_disk(fcall: Path) -> Iterator[None]:
    with mounted(fcall):
        a_sound_store(fcall)
        fill(fcall)
        yield


def fill(disk: Path) -> None:
    with (disk / "ballast").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


UNUSABLE: Mapping[Fault, str] = {
    a_folder: "Is a directory",
    a_link_to_nowhere: "replies.db is a link to *nowhere.db, and what is kept here must not be elsewhere; *",
    a_loop_of_links: "Too many levels of symbolic links",
    a_link_out: "replies.db is a link to *mine.txt, and what is kept here must not be elsewhere; remove the link",
    a_store_of_a_newer_version: "a newer pytest-fcall wrote them; update this one",
    a_locked_store: "another program has locked it for too long",
    a_locked_lock: "another program has locked it for too long",
    a_file_instead_of_the_folder: ".fcall is a file where a folder should be; move it away",
    a_folder_that_is_a_link_to_nowhere: ".fcall is a link that leads nowhere; move it away",
    a_folder_that_is_a_loop: ".fcall is a link that leads nowhere; move it away",
    a_read_only_folder: "Read-only file system",
    a_read_only_store: "the file cannot be opened or created",
    a_full_disk: "*the disk is full*",
}


@pytest.mark.parametrize("unusable", UNUSABLE)
def test_what_cannot_be_kept_is_not_asked_for(exam: Exam, unusable: Fault) -> None:
    exam.cities(*towns(40))
    with unusable(exam.path / ".fcall"):
        result = exam.run("-rN")
        assert result.ret == 10
        result.assert_outcomes(errors=1, skipped=39)
        result.stdout.fnmatch_lines([f"openai:exam: recorded replies in *replies.db: {UNUSABLE[unusable]}"])
        result.stdout.no_fnmatch_line("*Traceback*")
        assert exam.asked() == []
        exam.run("--fc-record=off", "-rN").assert_outcomes(passed=40)


@pytest.mark.needs("mount")
@pytest.mark.parametrize("unusable", [a_folder, *map(by_night, (a_file_instead_of_the_folder, a_read_only_folder))])
def test_workers_do_not_ask_for_it_either(exam: Exam, unusable: Fault) -> None:
    exam.cities(*towns(40))
    with unusable(exam.path / ".fcall"):
        result = exam.apart("-rN", "-n2")
        assert (result.ret, exam.asked()) == (10, [])
        result.stdout.fnmatch_lines(["openai:exam: recorded replies in *replies.db: *"])
        result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize("unusable", UNUSABLE)
@pytest.mark.parametrize("command", ["--stats", "--export", "--load", "--prune"])
def test_commands_say_it_in_a_line(exam: Exam, unusable: Fault, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exam.cities("Oslo")
    with unusable(exam.path / ".fcall"):
        status, text = said(exam.path, "record", command)
    assert status in (0, 1)
    assert "Traceback" not in text
    assert len(text.splitlines()) <= 2


def fill_disk(store: Path) -> None:
    fill(store.parent)


_HERE, _EXCHANGE = -100, 2  # of renameat2


def put_a_folder_there(store: Path) -> None:
    moved = store.with_name("moved.db")
    moved.mkdir()
    # Both at once: in between, the run would make another store.
    assert ctypes.CDLL(None).renameat2(_HERE, bytes(moved), _HERE, bytes(store), _EXCHANGE) == 0


HELD: list[sqlite3.Connection] = []


def lock_for_good(store: Path) -> None:
    """Another program that holds the store until the test ends."""
    held = sqlite3.connect(store, isolation_level=None, timeout=30, check_same_thread=False)
    held.execute("BEGIN IMMEDIATE")
    HELD.append(held)


@pytest.fixture
def released() -> Iterator[Callable[[], None]]:
    def release() -> None:
        while HELD:
            HELD.pop().close()

    yield release
    release()


@pytest.mark.needs("mount")
@pytest.mark.parametrize("moment", [by_night(1), 40, by_night(100)])
@pytest.mark.parametrize("fault", [lock_for_good, fill_disk, put_a_folder_there])
def test_what_was_paid_for_is_not_asked_for_again(
    exam: Exam,
    fault: Callable[[Path], None],
    moment: int,
    released: Callable[[], None],
) -> None:
    exam.cities(*towns(120))
    store = exam.path / ".fcall/replies.db"
    numbers = iter(range(1, 1000))

    def answer(asked: Asked) -> Answer:
        if next(numbers) == moment:
            fault(store)
        return echo(asked)

    exam.server.default = answer
    with mounted(store.parent):
        result = exam.run("-rN", "--fc-concurrency=16")
        text = result.stdout.str()
        assert result.ret == 10, text
        assert "Traceback" not in text
        assert "wait for it in" in text
        paid = exam.asked()
        assert moment <= len(paid) < 120
        assert len(paid) < moment + 3 * 16
        released()
        subprocess.run(["mount", "-o", "remount,rw,size=8m", str(store.parent)], check=True)
        (store.parent / "ballast").unlink(missing_ok=True)
        if store.is_dir():
            store.rmdir()
            store.with_name("moved.db").rename(store)
        if command := re.search(r"fcall (record --load \S+)", text):
            status, told = said(exam.path, *command[1].split())
            assert status == 0, told
        exam.run("-rN").assert_outcomes(passed=120)
        assert sorted(exam.asked()) == sorted(map(called, towns(120)))
        assert not [*store.parent.glob("*rescued*")]


@pytest.mark.parametrize(
    "unusable",
    [a_folder, a_locked_store, a_store_of_a_newer_version, pytest.param(a_full_disk, marks=pytest.mark.needs("mount"))],
)
def test_the_requests_of_an_app_are_not_sent_either(
    exam: Exam, unusable: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    app_of(exam, monkeypatch)
    with unusable(exam.path / ".fcall"):
        result = exam.shop.run("-rN", "--fc-model=python:app:answer")
        assert (result.ret, exam.asked()) == (10, [])
        result.stdout.fnmatch_lines(["python:app:answer: recorded replies in *replies.db: *"])
        result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.needs("mount")
@pytest.mark.parametrize("fault", [lock_for_good, fill_disk])
def test_what_an_app_has_paid_for_is_not_asked_for_again(
    exam: Exam, fault: Callable[[Path], None], released: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    app_of(exam, monkeypatch)
    store = exam.path / ".fcall/replies.db"
    numbers = iter(range(1, 1000))

    def answer(asked: Asked) -> Answer:
        if next(numbers) == 5:
            fault(store)
        return chat("Hello.")

    exam.server.default = answer
    with mounted(store.parent):
        result = exam.shop.run("-rN", "--fc-model=python:app:answer")
        text = result.stdout.str()
        assert result.ret == 10, text
        assert "Traceback" not in text
        assert 5 <= len(exam.asked()) <= 6
        released()
        (store.parent / "ballast").unlink(missing_ok=True)
        if command := re.search(r"fcall (record --load \S+)", text):
            assert said(exam.path, *command[1].split())[0] == 0
        exam.shop.run("-rN", "--fc-model=python:app:answer").assert_outcomes(passed=20)
        assert len(exam.asked()) == 20


def app_of(exam: Exam, monkeypatch: pytest.MonkeyPatch) -> None:
    """An app that asks its model once for each of 20 cases."""
    monkeypatch.setenv("OPENAI_BASE_URL", exam.server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    exam.shop.file("app.py", APP)
    cases = "".join(f"  - {{id: c{number}, prompt: Hello {number}, expect: no_call}}\n" for number in range(20))
    exam.shop.cases(f"cases:\n{cases}", "exam.fc.yaml")
    exam.server.default = lambda _: chat("Hello.")


APP = """
import json
import os
import urllib.request


def answer(request):
    body = json.dumps({"model": "exam-1", "messages": [dict(each) for each in request.messages]}).encode()
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    asked = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]
"""


@pytest.mark.skipif(platform.machine() not in FCNTL or sys.platform != "linux", reason="a filter of system calls")
def test_a_file_system_without_locks_is_told_at_once(exam: Exam) -> None:
    exam.cities(*towns(40))
    exam.shop.file("without_locks.py", WITHOUT_LOCKS.replace("FCNTL", str(FCNTL[platform.machine()])))
    done = python(
        exam.path, "without_locks.py", *QUIET, "-rN", "-p", "no:asyncio", exam.model, OPENAI_API_KEY="sk-none"
    )
    assert done.returncode == 10, done.stdout + done.stderr
    assert re.search(r"replies\.db: files in \S+ cannot be locked: its file system has no locks", done.stdout)
    assert "Traceback" not in done.stdout + done.stderr
    assert exam.asked() == []


WITHOUT_LOCKS = """
import ctypes
import errno
import struct
import sys

F_SETLK, F_SETLKW, ALLOW, ERRNO = 6, 7, 0x7FFF0000, 0x00050000
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
filters = [
    (LOAD, 0, 0, 0),  # the number of the call
    (EQUAL, 0, 4, FCNTL),
    (LOAD, 0, 0, 24),  # its second argument
    (EQUAL, 1, 0, F_SETLK),
    (EQUAL, 0, 1, F_SETLKW),
    (RETURN, 0, 0, ERRNO | errno.ENOLCK),
    (RETURN, 0, 0, ALLOW),
]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in filters))
filter_ = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(filters), ctypes.addressof(program)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
assert libc.prctl(22, 2, filter_, 0, 0) == 0, ctypes.get_errno()  # PR_SET_SECCOMP

import pytest

sys.exit(pytest.main(sys.argv[1:]))
"""
