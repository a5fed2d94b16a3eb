"""seccomp: Linux refuses system calls, whoever in the process makes them."""

from __future__ import annotations

import errno
import os
import platform
import struct
from collections.abc import Iterator, Mapping
from ctypes import CDLL, Structure, addressof, c_ulong, c_ushort, c_void_p, create_string_buffer
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from pytest_fcall.conversation.execution.walls.privileges import give_up_privileges

if TYPE_CHECKING:
    from pytest_fcall.conversation.execution.walls.orders import Walls

_COLUMNS: Mapping[str, tuple[int, int]] = MappingProxyType({"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)})
"""Where an architecture stands in the tables below, in which -1 is no system call, and what the kernel calls it."""
_OTHER_NUMBERS = 0x40000000  # x86-64 has its system calls a second time, from here on

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
        # ways around the other walls
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
        # what outlives the process
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
_PROGRAMS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"fork": (57, -1), "vfork": (58, -1), "execve": (59, 221), "execveat": (322, 281)}
)
_SOCKET, _CLONE, _CLONE3, _PRLIMIT = (41, 198), (56, 220), (435, 435), (302, 261)
_TO_ITSELF: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131)}
)

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in what the filter is shown
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_CLONE_THREAD = 0x10000
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2


class _Program(Structure):
    _fields_: ClassVar = [("length", c_ushort), ("filter", c_void_p)]


def raise_seccomp(walls: Walls) -> bool:
    """Refuse what `walls` do not allow; False where the kernel takes no filter, or the architecture is another."""
    if (known := _COLUMNS.get(platform.machine())) is None:
        return False
    column, architecture = known
    steps = b"".join(_filter(walls, column, architecture, os.getpid()))
    held = create_string_buffer(steps, len(steps))
    program = _Program(len(steps) // 8, addressof(held))
    libc = CDLL(None, use_errno=True)
    give_up_privileges(libc)
    return bool(libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, c_ulong(addressof(program)), 0, 0) == 0)


def _filter(walls: Walls, column: int, architecture: int, own: int) -> Iterator[bytes]:
    refuse = _step(_RETURN, _REFUSE | errno.EPERM)
    allow = _step(_RETURN, _ALLOW)
    yield from (_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, architecture, 1, 0), refuse)
    yield from (_step(_LOAD, _NUMBER), _step(_AT_LEAST, _OTHER_NUMBERS, 0, 1), refuse)
    refused = [
        *_NEVER.values(),
        *(() if walls.network else (_SOCKET,)),
        *(() if walls.processes else _PROGRAMS.values()),
    ]
    for numbers in refused:
        if (number := numbers[column]) >= 0:
            yield from (_step(_EQUAL, number, 0, 1), refuse)
    if not walls.processes:
        # Threads are no processes. Of clone3 a filter cannot see what is asked for: without it, libraries take clone.
        yield from (_step(_EQUAL, _CLONE3[column], 0, 1), _step(_RETURN, _REFUSE | errno.ENOSYS))
        yield from (
            _step(_EQUAL, _CLONE[column], 0, 4),
            _argument(0),
            _step(_ANY_BIT, _CLONE_THREAD, 1, 0),
            refuse,
            allow,
        )
        for numbers in _TO_ITSELF.values():
            yield from (_step(_EQUAL, numbers[column], 0, 4), _argument(0), _step(_EQUAL, own, 1, 0), refuse, allow)
    # Limits may be read, with nothing to be set: neither half of the pointer.
    yield from (_step(_EQUAL, _PRLIMIT[column], 0, 6), _argument(2), _step(_EQUAL, 0, 0, 2))
    yield from (_argument(2, half=4), _step(_EQUAL, 0, 1, 0), refuse, allow)
    yield allow


def _step(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction; the jumps count the instructions to be skipped."""
    return struct.pack("=HBBI", code, if_true, if_false, operand)


def _argument(index: int, half: int = 0) -> bytes:
    """Load one half of an argument, the lower one unless told otherwise (little-endian)."""
    return _step(_LOAD, 16 + 8 * index + half)
