"""A program that calls functions inside of the walls, as this user or as an ordinary one, and says what came of it.

    python -m tests.attacks.walled root|user namespaces|plain attempts|ordinary|FUNCTION [LIMIT=VALUE ...]

`attempts` are those of `escapes`, `ordinary` calls the functions of that module, and another name is one of
`escapes_that_last`.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from fcntl import ioctl
from pathlib import Path
from typing import Any, Final

from pytest_fcall.conversation.execution.limits import CallLimits, EnvironmentSpec
from pytest_fcall.conversation.execution.tool_process import ToolProcess
from pytest_fcall.core.conversation import CallResult
from tests.refused_calls import refuse

_NOBODY: Final = 65534
_SECRET: Final = "sk-test-0987654321"  # noqa: S105  # it opens nothing
_ATTEMPTS: Final = "tests.attacks.escapes"
_CLONE_NEWNS, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000
_SHARED: Final = {"shm": "shared", "sem": "semaphore", "msg": "queue"}
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


def become_ordinary() -> None:
    """Become the user `nobody`, who may pass to this Python in mounts of this process alone."""
    paths = {Path(path).resolve() for path in (sys.prefix, sys.base_prefix, *sys.path) if path and Path(path).exists()}
    if blocked := {above for path in paths for above in path.parents if not above.stat().st_mode & stat.S_IXOTH}:
        _succeed(_LIBC.unshare(_CLONE_NEWNS))
        _succeed(_LIBC.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None))
        for folder in (each for each in blocked if not blocked & set(each.parents)):
            _cover(folder, [path for path in paths if folder in path.parents])
    os.setgroups([])
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)


def _cover(folder: Path, shown: list[Path]) -> None:
    """Put an empty folder over this one that shows only these in it."""
    opened = {path: os.open(path, os.O_PATH) for path in shown if not set(shown) & set(path.parents)}
    _succeed(_LIBC.mount(b"none", os.fsencode(folder), b"tmpfs", 0, b"mode=755"))
    for path, number in opened.items():
        path.mkdir(parents=True)
        _succeed(_LIBC.mount(b"/proc/self/fd/%d" % number, os.fsencode(path), None, _MS_BIND | _MS_REC, None))


def _succeed(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Outside:
    """Files, sockets and processes that nobody inside may reach."""

    def __init__(self, folder: Path, closing: ExitStack) -> None:
        self.project, self._folder = folder / "project", folder / "outside"
        self._note, self._secret_file = self.project / "note", self._folder / "secret"
        for path in (self._note, self._secret_file):
            path.parent.mkdir()
            path.write_text(_SECRET)
            with suppress(OSError):  # not every file system has them
                os.setxattr(path, "user.kept", _SECRET.encode())
        (self._folder / "empty").mkdir()
        self._secret_file.chmod(0o600)
        self._closing = closing
        self._sockets = self._listening()
        self._victim = self._new_victim()
        self._text = ctypes.create_string_buffer(_SECRET.encode())
        shared = {"shared": _LIBC.shmget(0, 4096, 0o1600), "semaphore": _LIBC.semget(0, 1, 0o1600)}
        shared["queue"] = _LIBC.msgget(0, 0o1600)
        closing.callback(_LIBC.shmctl, shared["shared"], 0, 0)
        closing.callback(_LIBC.semctl, shared["semaphore"], 0, 0, 0)
        closing.callback(_LIBC.msgctl, shared["queue"], 0, 0)
        self._numbers = {**shared, "parent": os.getpid(), "address": ctypes.addressof(self._text)}

    def to_data(self) -> dict[str, Any]:
        return {
            **self._numbers,
            "secret": str(self._secret_file),
            "folder": str(self._folder),
            "empty": str(self._folder / "empty"),
            "new": str(self._folder / "new"),
            "project": str(self.project),
            "note": str(self._note),
            "datagrams": self._sockets["datagrams"].getsockname(),
            "listener": self._sockets["listener"].getsockname(),
            "abstract": self._sockets["abstract"].getsockname().decode(),
            "victim": self._victim.pid,
            "port": self._sockets["port"].getsockname()[1],
            "home": str(Path("~").expanduser()),
        }

    def state(self) -> dict[str, object]:
        """All that an attempt might have changed, or set off."""
        if self._victim.poll() is not None:
            status = self._victim.returncode
            self._victim = self._new_victim()
            return {"victim": f"ended with {status}"}
        victim = self._victim.pid
        return {
            **{
                str(path): _file_state(path)
                for path in (self.project, self._note, *self._folder.rglob("*"), self._folder)
            },
            "text": (self._secret_file.read_text(), self._note.read_text(), self._text.value.decode()),
            "heard": [name for name, each in self._sockets.items() if _has_heard(each)],
            "priority": [os.getpriority(os.PRIO_PROCESS, number) for number in (0, victim)],
            "processors": [sorted(os.sched_getaffinity(number)) for number in (0, victim)],
            "policy": [os.sched_getscheduler(number) for number in (0, victim)],
            "victim": Path(f"/proc/{victim}/limits").read_text()
            + str(Path(f"/proc/{victim}/stat").read_text().split()[2]),
            "shared": [_shared_state(name, self._numbers[key]) for name, key in _SHARED.items()],
            "names": os.uname().nodename,
        }

    def _listening(self) -> dict[str, socket.socket]:
        sockets: dict[str, tuple[int, int, str | tuple[str, int]]] = {
            "datagrams": (socket.AF_UNIX, socket.SOCK_DGRAM, str(self._folder / "datagrams")),
            "listener": (socket.AF_UNIX, socket.SOCK_STREAM, str(self._folder / "listener")),
            "abstract": (socket.AF_UNIX, socket.SOCK_DGRAM, f"\0fcall-test-{os.getpid()}"),
            "port": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        }
        made = {}
        for name, (family, kind, address) in sockets.items():
            made[name] = self._closing.enter_context(socket.socket(family, kind))
            made[name].bind(address)
            made[name].setblocking(False)
            if kind == socket.SOCK_STREAM:
                made[name].listen()
        datagrams = made["udp"] = self._closing.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        datagrams.bind(made["port"].getsockname())
        datagrams.setblocking(False)
        return made

    def _new_victim(self) -> subprocess.Popen[bytes]:
        """A process in a group of its own, which waits."""
        victim = subprocess.Popen(["sleep", "3600"], start_new_session=True)
        self._closing.callback(victim.wait)
        self._closing.callback(victim.kill)
        return victim


def _shared_state(name: str, number: int) -> list[str]:
    """The line of a shared object in the kernel's list, or none."""
    lines = Path("/proc/sysvipc", name).read_text().splitlines()
    return [line for line in lines if line.split()[1] == str(number)]


def _file_state(path: Path) -> tuple[object, ...]:
    found = path.lstat()
    extended = [(name, os.getxattr(path, name)) for name in _extended_names(path)] if path.is_file() else []
    return (
        found.st_mode,
        found.st_uid,
        found.st_gid,
        found.st_nlink,
        found.st_size,
        found.st_mtime_ns,
        extended,
        _flags(path),
    )


def _extended_names(path: Path) -> list[str]:
    try:
        return os.listxattr(path)
    except OSError:
        return []


def _flags(path: Path) -> bytes | None:
    """Flags and generation of a file, where the file system has them."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        try:
            return ioctl(file, 0x80086601, bytes(8)) + ioctl(file, 0x80087601, bytes(8))
        except OSError:
            return None


def _has_heard(each: socket.socket) -> bool:
    try:
        if each.type == socket.SOCK_STREAM:
            each.accept()[0].close()
        else:
            each.recv(100)
    except BlockingIOError:
        return False
    return True


async def try_all(outside: Outside) -> dict[str, dict[str, str]]:
    """Try one after the other, in one process as long as it lives, and see after each what has changed outside."""
    from tests.attacks.escapes import ATTEMPTS

    spec = EnvironmentSpec(outside.project, functions={"attempt": f"{_ATTEMPTS}:attempt"})
    process = await ToolProcess.start(spec, CallLimits(seconds=20))
    results: dict[str, dict[str, str]] = {}
    before = outside.state()
    for name in ATTEMPTS:
        if process.has_ended:
            await process.close()
            process = await ToolProcess.start(spec, CallLimits(seconds=20))
        done = await process.call("attempt", {"name": name, "outside": outside.to_data()})
        after = outside.state()
        results[name] = _result(done, before, after)
        before = after if "ended" not in str(after["victim"]) else outside.state()
    await process.close()
    return {"walls": {"held": " ".join(process.sandbox)}, **results}


async def call_ordinary_functions(folder: Path) -> dict[str, str | None]:
    """The error of each, if any. Those that need more rights have a process of their own."""
    from tests.attacks.ordinary import ORDINARY, WITH_NETWORK, WITH_PROGRAMS

    spec = EnvironmentSpec(folder, functions={"call": "tests.attacks.ordinary:call"})
    without = [name for name in ORDINARY if name not in {WITH_NETWORK, WITH_PROGRAMS}]
    errors = {}
    for names in (without, [WITH_NETWORK], [WITH_PROGRAMS]):
        limits = CallLimits(seconds=60, network=WITH_NETWORK in names, processes=WITH_PROGRAMS in names)
        process = await ToolProcess.start(spec, limits)
        for name in names:
            done = await process.call("call", {"name": name})
            errors[name] = done.error and f"{done.error} ({done.place})"
        await process.close()
    return errors


def _result(done: CallResult, before: dict[str, object], after: dict[str, object]) -> dict[str, str]:
    result = {"said": done.error or ""}
    if done.value is not None:
        result["reached"] = str(done.value)
    if _SECRET in str(done):
        result["reached"] = "the secret"
    if changed := [key for key in {**before, **after} if before.get(key) != after.get(key)]:
        result["changed"] = ", ".join(changed)
    return result


async def call_and_wait(name: str, limits: CallLimits, folder: Path) -> None:
    """Begin a call that does not end, and say which processes are to end with this one."""
    process = await ToolProcess.start(
        EnvironmentSpec(folder, functions={name: f"{_ATTEMPTS}_that_last:{name}"}), limits
    )
    call = asyncio.create_task(process.call(name, {}))
    while "begun" not in process.printed and not call.done():
        await asyncio.sleep(0.01)
    sys.stdout.write(f"{process._process.pid}\n")
    sys.stdout.flush()
    result = await call
    sys.stdout.write(f"{result.error}\n")
    await process.close()


@contextmanager
def working_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(
        prefix="fcall-walls-", dir=tempfile.gettempdir(), ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder).resolve()


def main() -> None:
    user, namespaces, task, *limits = sys.argv[1:]
    if user == "user" and os.geteuid() == 0:
        become_ordinary()
    if namespaces == "plain":
        refuse("unshare")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that folders are removed
    with working_folder() as folder, ExitStack() as closing:
        if task == "attempts":
            sys.stdout.write(json.dumps(asyncio.run(try_all(Outside(folder, closing)))))
        elif task == "ordinary":
            sys.stdout.write(json.dumps(asyncio.run(call_ordinary_functions(folder))))
        else:
            given = CallLimits(
                **{name: json.loads(value) for name, _, value in (each.partition("=") for each in limits)}
            )
            asyncio.run(call_and_wait(task, given, folder))


if __name__ == "__main__":
    main()
