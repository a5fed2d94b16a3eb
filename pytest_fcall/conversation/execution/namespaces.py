"""Namespaces of Linux: a network without interfaces, processes and shared memory of its own, and files to be read only.

They are there where the kernel lets an ordinary user make them, or where an administrator runs the tests. Most
containers refuse them.
"""

from __future__ import annotations

import os
import struct
from ctypes import CDLL, create_string_buffer
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pytest_fcall.conversation.execution.sandbox import SandboxRules

_MOUNTS, _IPC, _USERS, _PROCESSES, _NETWORK = 0x20000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000
_READ_ONLY, _NO_SETUID, _NO_DEVICES = 1, 2, 4
_MOST_PROCESSES: Final = 256


def enter_namespaces(rules: SandboxRules) -> list[str]:
    """Enter new namespaces, and name what holds: `namespaces`, and `mounts` where only one folder can be changed.

    Processes that are begun from now on are in the new namespace of processes; the first of them is its init.
    """
    libc = CDLL(None, use_errno=True)
    wanted = _MOUNTS | _IPC | _PROCESSES | (0 if rules.network else _NETWORK)
    if libc.unshare(wanted) != 0:
        user, group = os.geteuid(), os.getegid()
        if libc.unshare(wanted | _USERS) != 0:
            return []
        _keep_identity(user, group)
        _limit_processes()
    return ["namespaces", "mounts"] if _make_read_only(libc, rules.writable) else ["namespaces"]


def _keep_identity(user: int, group: int) -> None:
    """In a new namespace of users nobody is anybody until this is written."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        opened = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(opened, text.encode())
        os.close(opened)


def _limit_processes() -> None:
    """Bound their number, which counts in each namespace of users by itself. Outside, all of the user's would count."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    most = _MOST_PROCESSES if hard == resource.RLIM_INFINITY else min(_MOST_PROCESSES, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def _make_read_only(libc: CDLL, writable: str) -> bool:
    """Let nothing be changed but in this folder, attributes included. Returns False where mounts cannot be changed."""
    folder = os.fsencode(writable)
    if (
        libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) != 0
        or libc.mount(folder, folder, None, _MS_BIND, None) != 0
        or _set_mount(libc, b"/", _AT_RECURSIVE, _READ_ONLY, 0) != 0
    ):
        return False
    if _set_mount(libc, folder, 0, _NO_SETUID | _NO_DEVICES, _READ_ONLY) != 0:
        raise OSError(f"{writable} could not be made writable")
    os.chdir(folder)  # the working folder was that of the mount below
    return True


def _set_mount(libc: CDLL, path: bytes, flags: int, added: int, removed: int) -> int:
    attributes = struct.pack("=QQQQ", added, removed, 0, 0)
    given = create_string_buffer(attributes, len(attributes))
    return int(libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, flags, given, len(attributes)))
