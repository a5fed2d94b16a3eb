"""Mode, owner and times of files, changed by the watcher for the watched process, and only in its own folder.

The filter of system calls sees numbers, and no paths. So where there is no namespace of mounts, the kernel stops each
such call and asks the watcher (seccomp's user notification). That opens the file, sees where it is, and makes the
change on what it has opened: a path that changes meanwhile leads nowhere else.
"""

from __future__ import annotations

import errno
import os
import platform
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.conversation.execution import system_calls

_RECEIVE, _SEND, _IS_VALID = 0xC0502100, 0xC0182101, 0x40082102
_QUESTION, _ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
_SECONDS, _MOMENTS = struct.Struct("=qq"), struct.Struct("=qqqq")
_LONGEST_PATH: Final = 4096
_PAGE: Final = 4096
_HERE: Final = -100
_NO_FOLLOW: Final = 0x100
_NOT_GIVEN: Final = 0xFFFFFFFF
_NOW, _UNCHANGED = 0x3FFFFFFF, 0x3FFFFFFE
_ORDINARY_BITS: Final = 0o1777
"""Without setuid and setgid: an administrator's file must not lend its rights."""

Change: TypeAlias = Callable[[str], None]
"""Changes the file at a path."""
Responder: TypeAlias = Callable[["_Question"], None]
"""Does what a question asks for. Raises OSError."""


class _Question:
    """A call that waits for its answer, with the memory and the files of who made it."""

    def __init__(self, listener: int, folder: str, data: bytes) -> None:
        self.id, self._process, _, self.number, _, _, *arguments = _QUESTION.unpack(data)
        self.arguments: Sequence[int] = arguments
        self._listener = listener
        self._folder = folder

    def change(self, base: int, path: int, change: Change, flags: int = 0) -> None:
        """Make a change on a file that is named like this. Raises OSError, also where it is outside of the folder."""
        where = f"/proc/{self._process}/cwd" if _signed(base) == _HERE else f"/proc/{self._process}/fd/{_signed(base)}"
        named = os.fsencode(where)
        no_follow = 0
        if path:
            if not (name := self._text(path)):
                raise FileNotFoundError(errno.ENOENT, "no path")
            named = os.path.join(named, name)  # noqa: PTH118  # bytes
            no_follow = os.O_NOFOLLOW if flags & _NO_FOLLOW else 0
        opened = os.open(named, os.O_PATH | os.O_CLOEXEC | no_follow)
        try:
            ioctl(self._listener, _IS_VALID, struct.pack("=Q", self.id))  # or the number is another process's by now
            link = f"/proc/self/fd/{opened}"
            found = os.readlink(link)  # noqa: PTH115  # a path with a remark is no Path
            if found != self._folder and not found.startswith(self._folder + os.sep):
                raise PermissionError(errno.EPERM, "outside")
            change(link)
        finally:
            os.close(opened)

    def memory(self, address: int, size: int) -> bytes:
        """The bytes at an address. Raises OSError."""
        with Path(f"/proc/{self._process}/mem").open("rb", buffering=0) as memory:
            try:
                memory.seek(address)
                found = memory.read(size)
            except (OSError, OverflowError):
                found = b""
        if not found:
            raise OSError(errno.EFAULT, "no such memory")
        return found

    def _text(self, address: int) -> bytes:
        """A text that ends with a zero, read page by page, since the next page may not be there."""
        text = b""
        while b"\0" not in text and len(text) < _LONGEST_PATH:
            text += self.memory(address + len(text), _PAGE - (address + len(text)) % _PAGE)
        return text.partition(b"\0")[0]


def answer_questions(listener: int, folder: str) -> None:
    """Answer until nobody is left who might ask."""
    calls = _calls()
    with suppress(OSError):
        while True:
            with suppress(FileNotFoundError):  # who asked is gone
                data = bytearray(_QUESTION.size)
                ioctl(listener, _RECEIVE, data)
                question = _Question(listener, folder, bytes(data))
                ioctl(listener, _SEND, _ANSWER.pack(question.id, 0, -_error_of(question, calls), 0))


def _error_of(question: _Question, calls: Mapping[int, Responder]) -> int:
    """Do what is asked; 0 where it was done."""
    try:
        calls[question.number](question)
    except OSError as error:
        return error.errno or errno.EPERM
    except (KeyError, ValueError, OverflowError, struct.error):
        return errno.EINVAL
    return 0


def _calls() -> Mapping[int, Responder]:
    """The attributes that each of `system_calls.ATTRIBUTES` asks for, by its number here."""
    column = ("x86_64", "aarch64").index(platform.machine())
    numbers = {name: both[column] for name, both in system_calls.ATTRIBUTES.items() if both[column] >= 0}
    return MappingProxyType({number: _CALLS[name] for name, number in numbers.items()})


def _chmod(base: int | None, path: int | None, mode: int, flags: int | None = None) -> Responder:
    """The answer to a call that changes a mode. Each parameter is the place of an argument; None where it has none."""

    def ask(question: _Question) -> None:
        bits = question.arguments[mode] & _ORDINARY_BITS
        question.change(*_place(question, base, path), lambda link: Path(link).chmod(bits), _flags(question, flags))

    return ask


def _chown(base: int | None, path: int | None, owner: int, *, follow: int = 0) -> Responder:
    """`follow` is the place of the flags, or minus 1 for a call that never follows a link."""

    def ask(question: _Question) -> None:
        user, group = (number & _NOT_GIVEN for number in question.arguments[owner : owner + 2])
        if user not in {_NOT_GIVEN, os.geteuid()} or group not in {_NOT_GIVEN, os.getegid()}:
            raise PermissionError(errno.EPERM, "to others")
        flags = _NO_FOLLOW if follow < 0 else question.arguments[follow] if follow else 0
        question.change(*_place(question, base, path), lambda _: None, flags)

    return ask


def _utime(base: int | None, path: int | None, times: int, form: str, flags: int | None = None) -> Responder:
    """`form` says of two moments how they are written: their fractions, if any, in nano- or microseconds."""

    def ask(question: _Question) -> None:
        given = None
        if address := question.arguments[times]:
            read = _SECONDS if form == "s" else _MOMENTS
            given = read.unpack(question.memory(address, read.size))
        question.change(
            *_place(question, base, path), lambda link: _set_times(link, given, form), _flags(question, flags)
        )

    return ask


def _set_times(link: str, given: Sequence[int] | None, form: str) -> None:
    if given is None:
        os.utime(link)
        return
    found = Path(link).stat()
    before = (found.st_atime_ns, found.st_mtime_ns)
    pairs = [(each, 0) for each in given] if form == "s" else [*zip(given[::2], given[1::2], strict=True)]
    moments = [
        _moment(seconds, fraction * (1_000 if form == "us" else 1), old)
        for (seconds, fraction), old in zip(pairs, before, strict=True)
    ]
    os.utime(link, ns=(moments[0], moments[1]))


def _moment(seconds: int, fraction: int, before: int) -> int:
    from time import time_ns

    return {_NOW: time_ns(), _UNCHANGED: before}.get(fraction, seconds * 10**9 + fraction)


def _place(question: _Question, base: int | None, path: int | None) -> tuple[int, int]:
    found = _HERE if base is None else question.arguments[base]
    return found, 0 if path is None else question.arguments[path]


def _flags(question: _Question, index: int | None) -> int:
    return 0 if index is None else question.arguments[index]


def _signed(number: int) -> int:
    """A C int out of the register that it came in."""
    number &= 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


_CALLS: Final[Mapping[str, Responder]] = MappingProxyType(
    {
        "chmod": _chmod(None, 0, 1),
        "fchmod": _chmod(0, None, 1),
        "fchmodat": _chmod(0, 1, 2),
        "fchmodat2": _chmod(0, 1, 2, 3),
        "chown": _chown(None, 0, 1),
        "lchown": _chown(None, 0, 1, follow=-1),
        "fchown": _chown(0, None, 1),
        "fchownat": _chown(0, 1, 2, follow=4),
        "utime": _utime(None, 0, 1, "s"),
        "utimes": _utime(None, 0, 1, "us"),
        "futimesat": _utime(0, 1, 2, "us"),
        "utimensat": _utime(0, 1, 2, "ns", 3),
    }
)
