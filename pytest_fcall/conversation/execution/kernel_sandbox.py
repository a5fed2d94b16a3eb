"""The sandbox of the operating system: resource limits on POSIX, Landlock and seccomp on Linux."""

from __future__ import annotations

import errno
import os
import platform
import resource
import stat
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from ctypes import CDLL, Structure, addressof, c_ulong, c_ushort, c_void_p, create_string_buffer
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pytest_fcall.conversation.execution.sandbox import SandboxRules


_MOST_FILES = 256


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


def drop_privileges(libc: CDLL) -> None:
    """Keep programs that this process starts from gaining rights (setuid, capabilities)."""
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)


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
        drop_privileges(libc)
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


_COLUMNS: Mapping[str, tuple[int, int]] = MappingProxyType({"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)})
"""Per architecture: its column in the tables below, where -1 means no such call, and its number in the kernel."""
_OTHER_NUMBERS = 0x40000000  # x86-64 has a second set of system calls from here on (x32)

_NEVER: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        # other processes
        "ptrace": (101, 117),
        "process_vm_readv": (310, 270),
        "process_vm_writev": (311, 271),
        "pidfd_send_signal": (424, 424),
        "pidfd_getfd": (438, 438),
        "rt_sigqueueinfo": (129, 138),
        "rt_tgsigqueueinfo": (297, 240),
        # leaving the group that is killed, and the limits
        "setsid": (112, 157),
        "setpgid": (109, 154),
        "setrlimit": (160, 164),
        # ways around the other limits
        "io_uring_setup": (425, 425),
        "open_by_handle_at": (304, 265),
        "userfaultfd": (323, 282),
        "unshare": (272, 97),
        "setns": (308, 268),
        "chroot": (161, 51),
        "pivot_root": (155, 41),
        "mount": (165, 40),
        "umount2": (166, 39),
        "open_tree": (428, 428),
        "move_mount": (429, 429),
        "fsopen": (430, 430),
        "fsmount": (432, 432),
        "mount_setattr": (442, 442),
        # objects that outlive the process
        "shmget": (29, 194),
        "semget": (64, 190),
        "msgget": (68, 186),
        "mq_open": (240, 180),
        "add_key": (248, 217),
        "request_key": (249, 218),
        "keyctl": (250, 219),
        # the machine
        "bpf": (321, 280),
        "perf_event_open": (298, 241),
        "init_module": (175, 105),
        "finit_module": (313, 273),
        "kexec_load": (246, 104),
        "kexec_file_load": (320, 294),
        "reboot": (169, 142),
        "swapon": (167, 224),
        "swapoff": (168, 225),
        "delete_module": (176, 106),
        "ioperm": (173, -1),
        "iopl": (172, -1),
        "adjtimex": (159, 171),
        "clock_adjtime": (305, 266),
        "settimeofday": (164, 170),
        "clock_settime": (227, 112),
        "sethostname": (170, 161),
        "setdomainname": (171, 162),
    }
)
_PROCESS_CALLS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"fork": (57, -1), "vfork": (58, -1), "execve": (59, 221), "execveat": (322, 281)}
)
_SOCKET, _CLONE, _CLONE3, _PRLIMIT = (41, 198), (56, 220), (435, 435), (302, 261)
_SIGNAL_CALLS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131)}
)

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in the data of the filter
_ALLOWED, _REFUSED = 0x7FFF0000, 0x00050000
_CLONE_THREAD = 0x10000
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2


class _FilterProgram(Structure):
    _fields_: ClassVar = [("length", c_ushort), ("filter", c_void_p)]


def apply_seccomp(rules: SandboxRules) -> bool:
    """Refuse system calls that `rules` do not allow. Returns False without seccomp, or on other architectures."""
    if (known := _COLUMNS.get(platform.machine())) is None:
        return False
    column, architecture = known
    steps = b"".join(_filter_steps(rules, column, architecture, os.getpid()))
    held = create_string_buffer(steps, len(steps))
    program = _FilterProgram(len(steps) // 8, addressof(held))
    libc = CDLL(None, use_errno=True)
    drop_privileges(libc)
    return bool(libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, c_ulong(addressof(program)), 0, 0) == 0)


def _filter_steps(rules: SandboxRules, column: int, architecture: int, own: int) -> Iterator[bytes]:
    refuse = _instruction(_RETURN, _REFUSED | errno.EPERM)
    allow = _instruction(_RETURN, _ALLOWED)
    yield from (_instruction(_LOAD, _ARCHITECTURE), _instruction(_EQUAL, architecture, 1, 0), refuse)
    yield from (_instruction(_LOAD, _NUMBER), _instruction(_AT_LEAST, _OTHER_NUMBERS, 0, 1), refuse)
    refused = [
        *_NEVER.values(),
        *(() if rules.network else (_SOCKET,)),
        *(() if rules.processes else _PROCESS_CALLS.values()),
    ]
    for numbers in refused:
        if (number := numbers[column]) >= 0:
            yield from (_instruction(_EQUAL, number, 0, 1), refuse)
    if not rules.processes:
        # Threads are allowed. A filter cannot read the flags of clone3; without it, libraries fall back to clone.
        yield from (_instruction(_EQUAL, _CLONE3[column], 0, 1), _instruction(_RETURN, _REFUSED | errno.ENOSYS))
        yield from (
            _instruction(_EQUAL, _CLONE[column], 0, 4),
            _load_argument(0),
            _instruction(_ANY_BIT, _CLONE_THREAD, 1, 0),
            refuse,
            allow,
        )
        for numbers in _SIGNAL_CALLS.values():
            yield from (
                _instruction(_EQUAL, numbers[column], 0, 4),
                _load_argument(0),
                _instruction(_EQUAL, own, 1, 0),
                refuse,
                allow,
            )
    # prlimit may read limits but not set them: both halves of its pointer must be 0.
    yield from (_instruction(_EQUAL, _PRLIMIT[column], 0, 6), _load_argument(2), _instruction(_EQUAL, 0, 0, 2))
    yield from (_load_argument(2, half=4), _instruction(_EQUAL, 0, 1, 0), refuse, allow)
    yield allow


def _instruction(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction; the two jumps are numbers of instructions to skip."""
    return struct.pack("=HBBI", code, if_true, if_false, operand)


def _load_argument(index: int, half: int = 0) -> bytes:
    """Load the half of an argument at this offset; the lower one comes first (little-endian)."""
    return _instruction(_LOAD, 16 + 8 * index + half)
