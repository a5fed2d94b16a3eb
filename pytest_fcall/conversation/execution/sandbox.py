"""The sandbox of a process: limits of what it may read, write, start and reach.

Python's audit hook enforces them on every system. `kernel_sandbox`, `call_filter` and `watcher` add what the
operating system has.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = (
    *("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.link", "os.symlink"),
    *("os.truncate", "os.utime", "os.setxattr", "os.removexattr", "os.chflags", "os.lockf"),
)
_LOOKS = ("os.listdir", "os.scandir", "os.chdir", "os.listxattr", "os.getxattr")
_PROCESSES = (
    *("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn"),
    *("os.startfile", "os.startfile/2", "pty.spawn"),
)
_NETWORK = (
    *("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"),
    *("socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo", "http.client.connect"),
)

_NEEDED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "landlock": "its kernel does not hold files (Landlock, Linux 5.13)",
        "seccomp": "its kernel does not filter system calls (seccomp, on x86-64 and 64-bit ARM)",
    }
)
"""The features that Linux must have, and the message on a machine without them."""

HookCheck: TypeAlias = Callable[[tuple[Any, ...]], None]


class SandboxRules(NamedTuple):
    """Folders and files that may be read, the one folder that may be written, and the other limits."""

    readable: tuple[str, ...]
    writable: str
    memory: int
    file: int
    network: bool
    processes: bool
    weaker: bool
    """Whether a machine that cannot hold all of it is accepted."""

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> SandboxRules:
        """Read what `to_data` gave, after it was sent as JSON."""
        return cls(**{**data, "readable": tuple(data["readable"])})

    def to_data(self) -> dict[str, Any]:
        """A mapping for JSON."""
        return self._asdict()


class SandboxUnavailable(Exception):
    """This machine cannot hold a process as it should be. The text says what it lacks."""


def enter_sandbox(rules: SandboxRules, parent: int) -> list[str]:
    """Enter the sandbox, for good, and name the parts that hold. Call it before any foreign code runs.

    On Linux it forks: the caller goes on as another process, which ends with `parent`. Raises SandboxUnavailable where
    Linux cannot hold files or system calls, and the rules do not accept that.
    """
    held: list[str] = []
    if sys.platform != "win32":
        from pytest_fcall.conversation.execution.kernel_sandbox import limit_resources

        limit_resources(rules)
        held.append("resources")
    if sys.platform == "linux":
        held += _enter_linux_sandbox(rules, parent)
    add_audit_hook(rules)
    return [*held, "hook"]


def _enter_linux_sandbox(rules: SandboxRules, parent: int) -> list[str]:
    from pytest_fcall.conversation.execution.call_filter import apply_seccomp
    from pytest_fcall.conversation.execution.kernel_sandbox import apply_landlock, drop_privileges, enter_namespaces
    from pytest_fcall.conversation.execution.watcher import fork_watched

    held = enter_namespaces(rules)
    ask_watcher = fork_watched(parent, rules.writable, own_processes="namespaces" in held)
    drop_privileges()
    if apply_landlock(rules):
        held.append("landlock")
    held += apply_seccomp(rules, attributes="mounts" in held, ask=ask_watcher)
    if not rules.weaker and (missing := [text for name, text in _NEEDED.items() if name not in held]):
        raise SandboxUnavailable(" and ".join(missing))
    return held


def weakness(held: Sequence[str]) -> str | None:
    """A sentence on what does not hold functions on this machine, of these parts that do; None where all do."""
    if sys.platform != "linux":
        return "called functions are held by Python alone on this system, which code outside Python can avoid"
    missing = [text for name, text in _NEEDED.items() if name not in held]
    return f"called functions are held less well than they should be: {'; '.join(missing)}" if missing else None


def add_audit_hook(rules: SandboxRules) -> None:
    """Raise PermissionError from now on for everything that `rules` do not allow. A hook cannot be removed."""
    checks = _checks(rules)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if (check := checks.get(event)) is not None:
            check(arguments)
        elif event.startswith("winreg."):
            raise PermissionError("called functions may not touch the registry")

    sys.addaudithook(hook)


def _checks(rules: SandboxRules) -> dict[str, HookCheck]:
    own = (rules.writable, os.devnull)
    inside = partial(_is_inside, tuple(map(_real_path, own)))
    readable = partial(_is_inside, tuple(map(_real_path, (*rules.readable, *own))))
    checks: dict[str, HookCheck] = {"open": partial(_check_open, readable, inside)}
    checks |= dict.fromkeys(_CHANGES, partial(_check_paths, inside))
    checks |= dict.fromkeys(_LOOKS, partial(_check_paths, readable))
    if not rules.processes:
        checks |= dict.fromkeys(_PROCESSES, partial(_refuse, "start other programs"))
        checks |= {"os.kill": _check_kill, "os.killpg": partial(_refuse, "send signals to other processes")}
    if not rules.network:
        checks |= dict.fromkeys(_NETWORK, partial(_refuse, "use the network"))
    return checks


def _check_open(
    readable: Callable[[object], bool], inside: Callable[[object], bool], arguments: tuple[Any, ...]
) -> None:
    path, mode, flags = arguments
    writing = flags & _WRITING or (isinstance(mode, str) and set(mode) & set("wax+"))
    if not (inside(path) if writing else readable(path)):
        raise PermissionError(f"called functions may not {'write' if writing else 'read'} {path!r}")


def _check_paths(allowed: Callable[[object], bool], arguments: tuple[Any, ...]) -> None:
    for path in arguments:
        if isinstance(path, str | bytes | os.PathLike) and not allowed(path):
            raise PermissionError(f"called functions may not touch {path!r}")


def _check_kill(arguments: tuple[Any, ...]) -> None:
    if arguments[0] != os.getpid():
        raise PermissionError("called functions may not send signals to other processes")


def _refuse(action: str, _: tuple[Any, ...]) -> None:
    raise PermissionError(f"called functions may not {action}")


def _is_inside(folders: tuple[str, ...], path: object) -> bool:
    """Whether a path is inside one of the folders. An open file, given by its number, was checked at its opening."""
    if not isinstance(path, str | bytes | os.PathLike):
        return True
    real = _real_path(path)
    return any(real == folder or real.startswith(folder + os.sep) for folder in folders)


def _real_path(path: str | bytes | os.PathLike[Any]) -> str:
    return os.path.normcase(os.path.realpath(os.fsdecode(path)))
