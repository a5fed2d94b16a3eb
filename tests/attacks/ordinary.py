"""What ordinary functions do with the standard library and others; all of it must work inside of the walls.

The system calls that the walls allow were measured by running these under strace.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import ctypes
import datetime as dt
import faulthandler
import fcntl
import getpass
import gzip
import hashlib
import importlib.metadata
import importlib.util
import json
import locale
import logging.handlers
import mmap
import os
import pickle
import platform
import random
import re
import resource
import secrets
import select
import shelve
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import tracemalloc
import uuid
import xml.etree.ElementTree as ET
import zipfile
import zoneinfo
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path


def files() -> None:
    """Write, read, link, rename and remove."""
    Path("a/b").mkdir(parents=True)
    note = Path("a/b/note")
    note.write_text("x")
    assert note.read_bytes() == b"x"
    note.touch()
    Path("a/link").symlink_to("b/note")
    Path("a/hard").hardlink_to(note)
    assert Path("a/link").readlink() == Path("b/note")
    Path("a/hard").rename("a/other").replace("a/third")
    os.truncate("a/third", 0)
    os.mkfifo("a/fifo")
    assert len(list(Path().rglob("*"))) == 6
    assert all(([*os.walk(".")], [*os.fwalk(".")]))
    assert all((os.access("a", os.W_OK), os.statvfs(".").f_bsize, shutil.disk_usage(".").total))
    shutil.move("a", "moved")
    shutil.rmtree("moved")


def descriptors() -> None:
    """Everything that a file object does not do."""
    one, other = (os.open(name, os.O_RDWR | os.O_CREAT, 0o600) for name in ("one", "other"))
    os.pwrite(one, b"abc", 0)
    os.writev(one, [b"a", b"b"])
    os.pwritev(one, [b"a"], 0)
    assert all((os.pread(one, 1, 0) == b"a", os.preadv(one, [bytearray(1)], 0) == 1))
    os.lseek(one, 0, os.SEEK_SET)
    os.posix_fallocate(one, 0, 10)
    os.posix_fadvise(one, 0, 0, os.POSIX_FADV_SEQUENTIAL)
    os.lockf(one, os.F_LOCK, 1)
    fcntl.flock(one, fcntl.LOCK_EX)
    fcntl.flock(one, fcntl.LOCK_UN)
    os.set_inheritable(one, True)
    os.set_blocking(one, os.get_blocking(one))
    os.copy_file_range(one, other, 1)
    os.sendfile(other, one, 0, 1)
    os.ftruncate(one, 8)
    os.fsync(one)
    os.fdatasync(one)
    with mmap.mmap(one, 5) as mapped:
        mapped.flush()
        mapped.madvise(mmap.MADV_NORMAL)
    os.close(os.dup(one))
    os.close(os.dup2(one, 40))
    assert all((not os.isatty(one), os.umask(os.umask(0o22)) == 0o22))
    folder = os.open(".", os.O_RDONLY)
    os.fchdir(folder)
    os.mkdir("made", dir_fd=folder)
    assert all(("made" in os.listdir(folder), os.stat("made", dir_fd=folder)))  # noqa: PTH208  # by a descriptor
    os.rmdir("made", dir_fd=folder)
    reading, writing = os.pipe()
    os.write(writing, b"x")
    assert select.select([reading], [], [], 0)[0] == [reading]
    waiting = select.epoll()
    waiting.register(reading)
    assert waiting.poll(0)
    polled = select.poll()
    polled.register(reading)
    assert polled.poll(0)
    os.eventfd_read(os.eventfd(1))
    fcntl.fcntl(reading, fcntl.F_GETPIPE_SZ)


def attributes() -> None:
    """Change mode, owner and times of files in each way that there is."""
    Path("one").write_text("x")
    Path("link").symlink_to("one")
    folder = os.open(".", os.O_RDONLY)
    with Path("one").open() as file:
        changes: list[Callable[[], object]] = [
            lambda: Path("one").chmod(0o640),
            lambda: Path("link").chmod(0o640),
            lambda: Path("one").absolute().chmod(0o640),
            lambda: os.fchmod(file.fileno(), 0o640),
            lambda: os.chmod("one", 0o640, dir_fd=folder),  # by a descriptor
        ]
        for change in changes:
            os.fchmod(file.fileno(), 0o600)
            change()
            assert Path("one").stat().st_mode & 0o777 == 0o640
        os.utime(file.fileno(), (3, 4))
        os.utime("link", (5, 6), follow_symlinks=False)
        assert (Path("one").stat().st_mtime, Path("link").lstat().st_mtime) == (4, 6)
        os.fchown(file.fileno(), -1, os.getegid())
    for moments in ((1, 2), (10**18, 2 * 10**18 + 5)):
        os.utime("one", ns=moments)
        assert (Path("one").stat().st_atime_ns, Path("one").stat().st_mtime_ns) == moments
    os.utime("one")
    assert Path("one").stat().st_mtime > 10**9
    os.chown("one", os.geteuid(), os.getegid())
    os.lchown("link", os.geteuid(), -1)
    Path().chmod(0o700)
    try:
        Path("nothing").chmod(0o600)
    except FileNotFoundError:
        return
    raise AssertionError


def copies() -> None:
    """Copy files with all that belongs to them, and pack and unpack them."""
    Path("from").mkdir()
    Path("from/one").write_text("x")
    Path("from/one").chmod(0o640)
    os.utime("from/one", (10**9, 10**9))
    shutil.copy("from/one", "from/two")
    shutil.copy2("from/one", "from/three")
    shutil.copytree("from", "to")
    assert Path("to/three").stat().st_mtime == 10**9
    for form in ("gztar", "zip"):
        shutil.unpack_archive(shutil.make_archive(f"packed-{form}", form, "from"), f"unpacked-{form}")
    with tarfile.open("packed-gztar.tar.gz") as packed, zipfile.ZipFile("packed-zip.zip") as zipped:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # Python has none before 3.11.4
        packed.extractall("again")  # noqa: S202  # it is our own
        zipped.extractall("again")  # noqa: S202  # it is our own
    assert Path("again/one").read_text() == "x"


def temporary_files() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.NamedTemporaryFile() as named,
        tempfile.TemporaryFile() as file,
    ):
        named.write(b"x")
        file.write(b"x")
        assert Path(folder).is_dir()
    with gzip.open("x.gz", "wt") as packed:
        packed.write("x")


def databases() -> None:
    with closing(sqlite3.connect(":memory:")) as memory, closing(sqlite3.connect("kept.db")) as kept:
        memory.execute("create table number (n)")
        kept.execute("pragma journal_mode=wal")
        kept.execute("create table number (n)")
        kept.execute("insert into number values (1)")
        kept.commit()
    with shelve.open("shelf") as shelf:  # noqa: S301  # it is our own
        shelf["a"] = [1]


def threads() -> None:
    started = [threading.Thread(target=time.sleep, args=(0.001,)) for _ in range(20)]
    for each in started:
        each.start()
    for each in started:
        each.join(5)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert [*pool.map(abs, [-1, -2])] == [1, 2]
    condition = threading.Condition()
    with condition:
        condition.wait(0.001)


async def tasks() -> None:
    await asyncio.wait_for(asyncio.sleep(0.001), 5)
    await asyncio.to_thread(time.sleep, 0.001)
    one, other = socket.socketpair()
    _, writer = await asyncio.open_unix_connection(sock=one)
    reader, _ = await asyncio.open_unix_connection(sock=other)
    writer.write(b"hello\n")
    assert await reader.readline() == b"hello\n"
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, int)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.sleep(0.001)


def clocks() -> None:
    assert dt.datetime.now(zoneinfo.ZoneInfo("Europe/Paris")).utcoffset()
    time.tzset()
    assert all((time.localtime(), time.process_time() >= 0, time.thread_time() >= 0))
    assert time.clock_getres(time.CLOCK_MONOTONIC)
    time.sleep(0.001)


def chance() -> None:
    assert all((random.random() < 1, secrets.token_hex(), uuid.uuid4(), uuid.uuid1()))  # noqa: S311  # none of it is secret
    assert all((len(os.urandom(4)) == len(os.getrandom(4)) == 4, random.SystemRandom().random() < 1))
    assert hashlib.scrypt(b"x", salt=b"y", n=2, r=8, p=1)


def texts() -> None:
    assert all((json.loads(json.dumps({"a": [1.5, None]})), re.findall(r"\w+", "a b"), pickle.loads(pickle.dumps([1]))))  # noqa: S301
    assert ET.fromstring("<a><b/></a>").tag == "a"
    locale.setlocale(locale.LC_ALL, "")
    assert importlib.metadata.version("pytest")


def the_machine() -> None:
    assert all((platform.platform(), platform.machine(), os.cpu_count(), os.sched_getaffinity(0)))
    assert all((os.getloadavg(), os.uname(), os.times(), os.sysconf("SC_PHYS_PAGES"), resource.getpagesize()))
    assert all((resource.getrusage(resource.RUSAGE_SELF), resource.getrlimit(resource.RLIMIT_AS)))
    assert all((os.getgroups() is not None, os.getresuid(), os.getpgid(0), os.getsid(0) >= 0, os.getppid() >= 0))
    assert all((os.nice(0) is not None, os.getpriority(os.PRIO_PROCESS, 0) is not None))
    os.sched_yield()
    assert all((shutil.get_terminal_size().columns, isinstance(getpass.getuser(), str)))


def signals() -> None:
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    signal.pause()
    signal.alarm(0)
    signal.pthread_kill(threading.get_ident(), 0)
    assert all((signal.sigtimedwait([], 0) is None, not signal.sigpending()))
    signal.pthread_sigmask(signal.SIG_BLOCK, [])
    faulthandler.dump_traceback_later(100)
    faulthandler.cancel_dump_traceback_later()
    tracemalloc.start()
    tracemalloc.stop()


def c_library() -> None:
    """A function of C's that calls one of Python's."""
    given = (ctypes.c_int * 3)(3, 1, 2)
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    ctypes.CDLL(None).qsort(given, 3, 4, compare(lambda one, other: one[0] - other[0]))
    assert [*given] == [1, 2, 3]


def logs() -> None:
    logger = logging.getLogger("ordinary")
    logger.addHandler(logging.handlers.RotatingFileHandler("log", maxBytes=1, backupCount=2))
    for _ in range(3):
        logger.warning("x")
    assert ssl.create_default_context().check_hostname


def numbers() -> None:
    import numpy as np

    square = np.random.default_rng(1).random((200, 200))
    assert np.linalg.inv(square @ square).shape == np.fft.fft(square).shape
    np.save("square.npy", square)
    assert np.load("square.npy", mmap_mode="r")[0, 0] == square[0, 0]


def tables() -> None:
    """Pandas, where it is installed."""
    if importlib.util.find_spec("pandas") is None:
        return
    pd = importlib.import_module("pandas")
    pd.DataFrame({"a": range(200), "b": 1.5}).to_csv("table.csv")
    assert len(pd.read_csv("table.csv").groupby("a").sum()) == 200


def foreign_extensions() -> None:
    import jsonschema_rs
    import pydantic
    import yaml

    assert pydantic.TypeAdapter(int).validate_python("1") == 1
    assert jsonschema_rs.is_valid({"type": "integer"}, 1)
    assert yaml.safe_load("[1]") == [1]


def programs() -> None:
    """What a shell script does, with the programs of every system."""
    script = (
        "set -e; echo b >x; echo a >>x; sort x | uniq -c | wc -l; sed s/a/c/ x >y; awk 1 y | head -1; grep -c a x; "
        "find . -name x; date; id; uname -a; mktemp; touch z; env | head -1; gzip -k x; tar cf x.tar x; cp -r x w; "
        "for i in 1 2; do sleep 0.01 & done; wait"
    )
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert subprocess.run([sys.executable, "-c", "print(1)"], check=True, capture_output=True).stdout == b"1\n"
    number = os.fork()
    if not number:
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 3


def connections() -> None:
    """A server and its client on loopback, and a name that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            client.sendall(b"x")
            assert accepted.recv(1) == b"x"
    assert socket.getaddrinfo("localhost", 80)
    with suppress(OSError):
        socket.getaddrinfo("example.invalid", 80)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.sendto(b"x", ("127.0.0.1", 9))


WITH_PROGRAMS = "programs"
WITH_NETWORK = "connections"
ORDINARY: dict[str, Callable[[], object]] = {
    each.__name__: each
    for each in (
        *(
            files,
            descriptors,
            attributes,
            copies,
            temporary_files,
            databases,
            threads,
            tasks,
            clocks,
            chance,
            texts,
            the_machine,
        ),
        *(signals, c_library, logs, numbers, tables, foreign_extensions, programs, connections),
    )
}


def call(name: str) -> object:
    """Call one of them in a folder of its own."""
    folder = Path(tempfile.gettempdir(), name)
    folder.mkdir()
    os.chdir(folder)
    return ORDINARY[name]()
