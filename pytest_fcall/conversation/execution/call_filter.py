"""The filter of system calls (seccomp): what is not named in `system_calls` is refused."""

from __future__ import annotations

import errno
import os
import platform
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ctypes import CDLL, Structure, addressof, c_ulong, c_ushort, c_void_p, create_string_buffer
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

from pytest_fcall.conversation.execution import system_calls

if TYPE_CHECKING:
    from pytest_fcall.conversation.execution.sandbox import SandboxRules
    from pytest_fcall.conversation.execution.system_calls import CallTable

_ARCHITECTURES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
)
"""The column of each in `system_calls`, and its number in the kernel."""
_OTHER_NUMBERS: Final = 0x40000000
"""From here on x86-64 has a second set of system calls (x32)."""

_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in the data of the filter
_LONGEST_JUMP: Final = 255
_KILL: Final = struct.pack("=HBBI", _RETURN, 0, 0, 0x80000000)
_ALLOW: Final = struct.pack("=HBBI", _RETURN, 0, 0, 0x7FFF0000)
_ASK: Final = struct.pack("=HBBI", _RETURN, 0, 0, 0x7FC00000)
_SECCOMP, _MODE_FILTER, _NEW_LISTENER, _NO_NEW_PRIVILEGES = (317, 277), 1, 8, 38

_CLONE_THREAD: Final = 0x10000
_CLONE_ELSEWHERE: Final = 0x7E028000
"""Into a namespace, or as a sibling."""
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_SOCK_STREAM, _SOCK_KINDS = 1, 0xF
_FCNTL: Final = (
    *range(8),  # copies, flags and locks; from 8 on: signals to others
    *(36, 37, 38),  # locks of open files
    *(1030, 1031, 1032, 1033, 1034),  # copies, sizes of pipes, seals
)
_IOCTL: Final = (
    *(0x5401, 0x802C542A, 0x5413, 0x540F),  # whether it is a terminal, its size and group
    *(0x541B, 0x5421, 0x5450, 0x5451),  # bytes to read, not to wait, inheritance
    0x40049409,  # a copy that shares its blocks
)
_IOCTL_OF_NETWORKS: Final = (0x8910, 0x8912, 0x8913, 0x8915, 0x891B, 0x8921, 0x8927, 0x8933)
"""Names, flags and addresses of interfaces, to be read."""
_PRCTL: Final = (
    *(2, 3, 15, 16, 21, 23, 27, 29, 30, 38, 39, 41, 42),  # names, timers, pages; what holds the process
    *(51, 56, 64),  # vectors and pointers of ARM
    0x53564D41,  # names of memory
)


class _FilterProgram(Structure):
    _fields_: ClassVar = [("length", c_ushort), ("filter", c_void_p)]


def apply_seccomp(rules: SandboxRules, *, attributes: bool, ask: Callable[[int], None] | None) -> list[str]:
    """Refuse system calls that `rules` do not allow. Names what holds: `seccomp`, and `asked` where `ask` is used.

    `attributes` says that attributes of files may be changed. Otherwise `ask` is handed the open file by which somebody
    outside answers for such calls; without it, or a kernel that asks, they are refused. Returns nothing without
    seccomp, or on other architectures.
    """
    if (known := _ARCHITECTURES.get(platform.machine())) is None:
        return []
    libc = CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)  # without it only an administrator may set a filter
    if not attributes and ask is not None and (listener := _set_filter(libc, rules, known, _ASK, _NEW_LISTENER)) >= 0:
        ask(listener)
        os.close(listener)  # who has it can answer
        return ["seccomp", "asked"]
    end = _ALLOW if attributes else _refusal(errno.EPERM)
    return ["seccomp"] if _set_filter(libc, rules, known, end, 0) == 0 else []


def _set_filter(libc: CDLL, rules: SandboxRules, known: tuple[int, int], attributes: bytes, flags: int) -> int:
    """Set a filter that ends so for calls that change attributes. Negative where it cannot be set."""
    column, architecture = known
    steps = b"".join(_Filter(rules, column, os.getpid(), attributes).steps(architecture))
    held = create_string_buffer(steps, len(steps))
    program = _FilterProgram(len(steps) // 8, addressof(held))
    return int(libc.syscall(_SECCOMP[column], _MODE_FILTER, flags, c_ulong(addressof(program))))


class _Filter:
    """The instructions of the filter of one process."""

    def __init__(self, rules: SandboxRules, column: int, own: int, attributes: bytes) -> None:
        self._rules = rules
        self._column = column
        self._own = own
        self._attributes = attributes

    def steps(self, architecture: int) -> Iterator[bytes]:
        yield from (_instruction(_LOAD, _ARCHITECTURE), _instruction(_EQUAL, architecture, 1, 0), _KILL)
        yield from (_instruction(_LOAD, _NUMBER), _instruction(_AT_LEAST, _OTHER_NUMBERS, 0, 1), _KILL)
        for name, body in self._looked_at().items():
            yield from self._call(system_calls.LOOKED_AT[name], body)
        for numbers in system_calls.ATTRIBUTES.values():
            yield from self._call(numbers, [self._attributes])
        for table in self._allowed():
            for numbers in table.values():
                yield from self._call(numbers, [_ALLOW])
        for numbers in system_calls.EXTENDED_ATTRIBUTES.values():
            yield from self._call(numbers, [_refusal(errno.EOPNOTSUPP)])
        yield from (_instruction(_AT_LEAST, system_calls.NEWEST + 1, 0, 1), _refusal(errno.ENOSYS))
        yield _refusal(errno.EPERM)

    def _allowed(self) -> Iterator[CallTable]:
        yield from (system_calls.FILES, system_calls.MEMORY, system_calls.THREADS, system_calls.WAITING)
        yield from (system_calls.TIME, system_calls.SIGNALS, system_calls.ABOUT_ITSELF, system_calls.CONNECTED_SOCKETS)
        if self._rules.network:
            yield system_calls.NETWORK
        if self._rules.processes:
            yield system_calls.PROGRAMS

    def _looked_at(self) -> dict[str, list[bytes]]:
        """The filter for each call of `LOOKED_AT`. A filter sees numbers and never what a pointer leads to."""
        network, processes, refuse = self._rules.network, self._rules.processes, _refusal(errno.EPERM)
        itself = [0, self._own]
        to_itself = [_ALLOW] if processes else [*_one_of(0, [self._own]), refuse]
        pair = [*_argument(0), *_unless(_EQUAL, _AF_UNIX, refuse), *_argument(1), _instruction(_AND, _SOCK_KINDS)]
        connection = [
            *_one_of(0, [_AF_UNIX, _AF_INET, _AF_INET6]),
            *_unless(_EQUAL, _AF_NETLINK, refuse),
            *_one_of(2, [0]),  # routes, which a name server's client asks for
            refuse,
        ]
        return {
            "clone": [
                *_argument(0),
                *_where(_ANY_BIT, _CLONE_ELSEWHERE, refuse),
                *(() if processes else _unless(_ANY_BIT, _CLONE_THREAD, refuse)),
                _ALLOW,
            ],
            "clone3": [_refusal(errno.ENOSYS)],  # its flags are behind a pointer; libraries fall back to clone
            "socket": connection if network else [refuse],
            # A pair of datagram sockets may send to any other by its address.
            "socketpair": [_ALLOW] if network else [*pair, *_unless(_EQUAL, _SOCK_STREAM, refuse), _ALLOW],
            "sendto": [_ALLOW] if network else [*_zero(4, refuse), _ALLOW],
            "kill": to_itself,
            "tkill": to_itself,
            "tgkill": to_itself,
            "prlimit64": [*_zero(2, refuse), *_one_of(0, itself), refuse],  # limits may be read, and not set
            "setpriority": [*_argument(0), *_unless(_EQUAL, 0, refuse), *_one_of(1, itself), refuse],
            "sched_setaffinity": [*_one_of(0, itself), refuse],
            "fcntl": [*_one_of(1, _FCNTL), refuse],
            "ioctl": [*_one_of(1, [*_IOCTL, *(_IOCTL_OF_NETWORKS if network else ())]), _refusal(errno.ENOTTY)],
            "prctl": [*_one_of(0, _PRCTL), refuse],
        }

    def _call(self, numbers: tuple[int, int], body: Sequence[bytes]) -> Iterator[bytes]:
        """Decide by `body` on one system call. A body ends with a return, so nothing goes on behind it."""
        if (number := numbers[self._column]) >= 0:
            assert len(body) <= _LONGEST_JUMP  # noqa: S101  # tables of ours
            yield _instruction(_EQUAL, number, 0, len(body))
            yield from body


def _argument(index: int, half: int = 0) -> list[bytes]:
    """Load the half of an argument at this offset; the lower one comes first (little-endian)."""
    return [_instruction(_LOAD, 16 + 8 * index + half)]


def _where(test: int, operand: int, end: bytes) -> list[bytes]:
    """Return `end` where the test holds."""
    return [_instruction(test, operand, 0, 1), end]


def _unless(test: int, operand: int, end: bytes) -> list[bytes]:
    """Return `end` where the test does not hold."""
    return [_instruction(test, operand, 1, 0), end]


def _one_of(index: int, values: Iterable[int]) -> list[bytes]:
    """Allow where the lower half of an argument, which is all that the kernel reads of an int, is one of these."""
    return [*_argument(index), *(step for value in values for step in _where(_EQUAL, value, _ALLOW))]


def _zero(index: int, end: bytes) -> list[bytes]:
    """Return `end` where an argument, a pointer, is not 0."""
    return [step for half in (0, 4) for step in (*_argument(index, half), *_unless(_EQUAL, 0, end))]


def _refusal(number: int) -> bytes:
    return _instruction(_RETURN, 0x00050000 | number)


def _instruction(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction; the two jumps are numbers of instructions to skip."""
    return struct.pack("=HBBI", code, if_true, if_false, operand)
