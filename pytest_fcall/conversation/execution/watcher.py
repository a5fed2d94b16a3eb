"""A process that watches another: it ends it, with all that it started, when pytest says so or is gone. On Linux.

The watcher is the child of pytest and the parent of the watched process, outside of its walls, so nothing in there can
stop it. It also takes away what has ended: in many containers nobody else does.
"""

from __future__ import annotations

import os
import signal
import struct
from _socket import CMSG_SPACE, MSG_DONTWAIT, SCM_RIGHTS, SOL_SOCKET, socket, socketpair
from _thread import start_new_thread
from collections.abc import Callable
from contextlib import suppress
from ctypes import CDLL
from functools import partial
from typing import Final, NoReturn

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_MOST_FILES: Final = 256


def fork_watched(parent: int, folder: str, *, own_processes: bool) -> Callable[[int], None] | None:
    """Fork, and go on as the watched process. `own_processes` says that forks are in a namespace, which needs an init.

    `parent` is the process whose end is the end of all. What is returned hands the watcher an open file, by which the
    kernel asks it to change attributes of files in `folder`; None where the watcher cannot do so, which begins no
    thread while its children have a namespace of processes.
    """
    libc = CDLL(None)
    watcher = _Watcher(parent)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGHUP, 0, 0, 0)
    watcher.look_after_parent()  # it may have ended before the kernel was asked to tell
    inside, outside = socketpair()
    if own_processes:
        watcher.init = os.fork()
        if watcher.init == 0:
            _end_with_watcher(libc, inside, outside)
            _be_init()
    watcher.watched = os.fork()
    if watcher.watched == 0:
        _end_with_watcher(libc, inside, outside)
        os.setpgid(0, 0)
        return None if own_processes else partial(_hand_over, inside)
    # Files of both are closed here, or their end would not be noticed. The socket shows that the watcher lives.
    kept = outside.fileno()
    os.closerange(0, kept)
    os.closerange(kept + 1, _MOST_FILES)
    if not own_processes:
        start_new_thread(_answer_questions, (outside, folder))
    return watcher.watch()


class _Watcher:
    """The watcher's side. Signals tell it that pytest has had enough, or that a thread of pytest has ended."""

    def __init__(self, parent: int) -> None:
        self._parent = parent
        self.init = 0
        self.watched = 0
        signal.signal(signal.SIGTERM, lambda *_: self._kill())
        signal.signal(signal.SIGHUP, lambda *_: self.look_after_parent())

    def look_after_parent(self) -> None:
        """End everything where the parent is gone. The kernel tells of the end of each of its threads, too."""
        if os.getppid() != self._parent:
            self._kill()

    def watch(self) -> NoReturn:
        """Wait for the end of the watched process, end what is left of it, and end in the same way."""
        with suppress(OSError):  # it may have done so itself, or have ended
            os.setpgid(self.watched, self.watched)
        os.waitid(os.P_PID, self.watched, os.WEXITED | os.WNOWAIT)  # its number stays its own until it is taken away
        self._kill()
        status = os.waitpid(self.watched, 0)[1]
        with suppress(ChildProcessError):
            while True:
                os.wait()
        _end_like(os.waitstatus_to_exitcode(status))

    def _kill(self) -> None:
        """End the watched process and its descendants: they cannot leave its group, and die with their init."""
        if not self.watched:
            os._exit(1)
        for kill, number in ((os.kill, self.init), (os.killpg, self.watched), (os.kill, self.watched)):
            with suppress(ProcessLookupError):
                if number:
                    kill(number, signal.SIGKILL)


def _hand_over(channel: socket, listener: int) -> None:
    channel.sendmsg([b"."], [(SOL_SOCKET, SCM_RIGHTS, struct.pack("=i", listener))])
    channel.close()


def _answer_questions(channel: socket, folder: str) -> None:
    """Wait for an open file of the kernel's, if one is needed, and answer what it asks."""
    _, passed, _, _ = channel.recvmsg(1, CMSG_SPACE(4))
    if passed:
        from select import POLLIN, poll

        questions = poll()
        questions.register(listener := struct.unpack("=i", passed[0][2])[0], POLLIN)
        questions.poll()  # most processes ask nothing, and what answers takes time to import
        from pytest_fcall.conversation.execution.file_attributes import answer_questions

        answer_questions(listener, folder)


def _end_with_watcher(libc: CDLL, inside: socket, outside: socket) -> None:
    """Have the kernel end this process with its parent, and end now if there is none any more."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    outside.close()
    with suppress(BlockingIOError):
        if not inside.recv(1, MSG_DONTWAIT):  # nobody holds the other end
            os._exit(1)


def _be_init() -> NoReturn:
    """Take away what ends in the namespace, until the watcher ends it."""
    os.closerange(0, _MOST_FILES)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        signal.pause()


def _end_like(status: int) -> NoReturn:
    """End with this exit status, or by this signal where it is negative."""
    if status < 0:
        with suppress(OSError, ValueError):  # SIGKILL has no handler to take away
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)
