"""The sandbox of the operating system: resource limits on POSIX; namespaces, capabilities and Landlock on Linux."""

from __future__ import annotations

import os
import resource
import stat
import struct
import sys
from contextlib import suppress
from ctypes import CDLL, create_string_buffer
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pytest_fcall.conversation.execution.sandbox import SandboxRules

_MOST_FILES = 256
_MOUNTS, _IPC, _USERS, _PROCESSES, _NETWORK = 0x20000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000
_READ_ONLY, _NO_SETUID, _NO_DEVICES = 1, 2, 4
_MOST_PROCESSES: Final = 256


def limit_resources(rules: SandboxRules) -> None:
    """Limit address space, sizes and number of files, and core dumps, as far as the kernel supports it."""
    for kind, limit in (
        (resource.RLIMIT_AS, rules.memory),
        (resource.RLIMIT_FSIZE, rules.file),
        (resource.RLIMIT_NOFILE, _MOST_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        with suppress(ValueError, OSError):  # macOS refuses some bounds on address space
            resource.setrlimit(kind, (value, value))


_NO_NEW_PRIVILEGES = 38
_CAPABILITIES_VERSION = 0x20080522
_TO_READ_ALL = (1 << 2, 1 << 1)  # CAP_DAC_READ_SEARCH, or CAP_DAC_OVERRIDE, which is what containers have


def drop_privileges() -> None:
    """Give up an administrator's capabilities, and gain none from programs (setuid, capabilities of files).

    To read any file is given up only where the project can be imported without: it may be a user's own, who ran the
    tests by `sudo`. What may be read is up to Landlock all the same.
    """
    libc = CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    header = create_string_buffer(struct.pack("=Ii", _CAPABILITIES_VERSION, 0), 8)
    data = create_string_buffer(24)
    libc.capget(header, data)
    permitted = struct.unpack_from("=III", data.raw)[1]
    kept = next((each for each in _TO_READ_ALL if permitted & each), 0)
    _set_capabilities(libc, 0, kept)
    if kept and all(map(_can_enter, sys.path)):
        kept = 0
    _set_capabilities(libc, kept, kept)


def _set_capabilities(libc: CDLL, effective: int, permitted: int) -> None:
    header = create_string_buffer(struct.pack("=Ii", _CAPABILITIES_VERSION, 0), 8)
    libc.capset(header, create_string_buffer(struct.pack("=III12x", effective, permitted, 0), 24))


def _can_enter(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except PermissionError:
        return False
    except OSError:  # there is no such path, which hinders nobody
        return True
    return True


_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_ASK_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_TRUNCATE = 1 << 14
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_TCP_RIGHTS = 0b11  # bind, connect
_SCOPES = 0b11  # abstract sockets and signals of processes outside
_KNOWN_RIGHTS = ((1, 13), (2, 14), (3, 15), (5, 16))
"""Pairs: a version of Landlock, and the number of rights that it knows."""


def apply_landlock(rules: SandboxRules) -> bool:
    """Restrict reading and writing to what `rules` allow. Returns False on a kernel without Landlock."""
    libc = CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE, None, 0, _ASK_VERSION)
    if version < 1:
        return False
    rights = (1 << max(bits for since, bits in _KNOWN_RIGHTS if since <= version)) - 1
    asked = struct.pack("=QQQ", rights, 0 if rules.network else _TCP_RIGHTS, _SCOPES)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = libc.syscall(_CREATE, create_string_buffer(asked, len(asked)), size, 0)
    if ruleset < 0:
        return False
    reading = _EXECUTE | _READ_FILE | _READ_DIR
    try:
        for path in rules.readable:
            _allow_path(libc, ruleset, path, reading & rights)
        _allow_path(libc, ruleset, os.devnull, (_READ_FILE | _WRITE_FILE) & rights)
        _allow_path(libc, ruleset, rules.writable, rights & ~(_MAKE_CHAR | _MAKE_BLOCK))
        return bool(libc.syscall(_RESTRICT, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _allow_path(libc: CDLL, rules: int, path: str, rights: int) -> None:
    """Add a rule; a path that does not exist needs none."""
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            rights &= _FILE_RIGHTS
        rule = struct.pack("=Qi", rights, opened)
        libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, create_string_buffer(rule, len(rule)), 0)
    finally:
        os.close(opened)


def enter_namespaces(rules: SandboxRules) -> list[str]:
    """Enter new namespaces, and name what holds: `namespaces`, and `mounts` where only one folder can be changed.

    They are a network without interfaces, processes and shared memory of their own, and files to be read only. They are
    there where the kernel lets an ordinary user make them, or where an administrator runs the tests. Most containers
    refuse them.

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
