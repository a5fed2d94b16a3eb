"""Landlock: Linux refuses files outside the given folders, to Python and to everything else in the process."""

from __future__ import annotations

import os
import stat
import struct
from ctypes import CDLL, create_string_buffer
from typing import TYPE_CHECKING

from pytest_fcall.conversation.execution.walls.privileges import give_up_privileges

if TYPE_CHECKING:
    from pytest_fcall.conversation.execution.walls.orders import Walls

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_ASK_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_TRUNCATE = 1 << 14
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_TCP = 0b11  # bind, connect
_SCOPES = 0b11  # abstract sockets and signals of processes outside
_KNOWN_RIGHTS = ((1, 13), (2, 14), (3, 15), (5, 16))
"""From which version on Landlock knows how many rights."""


def raise_landlock(walls: Walls) -> bool:
    """Allow reading and writing only where `walls` do; False where this kernel has no Landlock."""
    libc = CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE, None, 0, _ASK_VERSION)
    if version < 1:
        return False
    rights = (1 << max(bits for since, bits in _KNOWN_RIGHTS if since <= version)) - 1
    asked = struct.pack("=QQQ", rights, 0 if walls.network else _TCP, _SCOPES)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = libc.syscall(_CREATE, create_string_buffer(asked, len(asked)), size, 0)
    if rules < 0:
        return False
    reading = _EXECUTE | _READ_FILE | _READ_DIR
    try:
        for path in walls.readable:
            _allow(libc, rules, path, reading & rights)
        _allow(libc, rules, os.devnull, (_READ_FILE | _WRITE_FILE) & rights)
        _allow(libc, rules, walls.writable, rights & ~(_MAKE_CHAR | _MAKE_BLOCK))
        give_up_privileges(libc)
        return bool(libc.syscall(_RESTRICT, rules, 0) == 0)
    finally:
        os.close(rules)


def _allow(libc: CDLL, rules: int, path: str, rights: int) -> None:
    """Add a rule; a path that is not there needs none."""
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            rights &= _FILE_RIGHTS
        rule = struct.pack("=Qi", rights, opened)
        libc.syscall(_ADD, rules, _PATH_BENEATH, create_string_buffer(rule, len(rule)), 0)
    finally:
        os.close(opened)
