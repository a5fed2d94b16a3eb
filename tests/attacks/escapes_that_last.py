"""What called functions may do to outlive their time, or to end at once. Those that last say `begun` when they have."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import signal
import subprocess
import sys
import threading
import time

from tests.attacks.escapes import call_number


def _say_begun() -> None:
    os.write(2, b"begun\n")


def _last() -> None:
    while True:
        time.sleep(3600)


def ignore_signals() -> None:
    """Ignore the alarm and whatever else can be ignored."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    _say_begun()
    _last()


def block_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    _say_begun()
    _last()


def stop_the_alarm() -> None:
    """Stop the timer, and turn in a loop that Python cannot interrupt."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    _say_begun()
    sum(iter(int, 1))


def stop_itself() -> None:
    _say_begun()
    signal.raise_signal(signal.SIGSTOP)


def leave_threads() -> None:
    for _ in range(20):
        threading.Thread(target=_last).start()
    _say_begun()
    _last()


def close_everything() -> None:
    """Close the channel, so that its end is not noticed."""
    _say_begun()
    os.closerange(0, 256)
    _last()


def leave_programs() -> None:
    """Leave programs, and some of theirs, which ignore what asks them to end."""
    code = (
        "import os, signal, sys, time\n"
        "for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:\n"
        "    signal.signal(number, signal.SIG_IGN)\n"
        "if os.fork() == 0: os.fork()\n"
        "os.write(1, b'begun\\n')\n"
        "time.sleep(3600)"
    )
    started = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(3)]
    for each in started:
        assert each.stdout
        for _ in range(3):
            each.stdout.readline()
    _say_begun()
    _last()


def become_a_daemon() -> None:
    """Fork twice with a new session between, as daemons do, as far as it goes."""
    if os.fork() == 0:
        try:
            os.setsid()
        except OSError:
            try:
                os.setpgid(0, 0)
            except OSError:
                os.write(2, b"neither\n")
        if os.fork() == 0:
            _say_begun()
            _last()
        os._exit(0)
    _last()


def bomb() -> None:
    """Fork as often as it goes, up to a number that does not hurt; say how many there were."""
    made = 0
    for _ in range(800):
        try:
            if os.fork() == 0:
                _last()
        except OSError:
            break
        made += 1
    os.write(2, b"begun\n")
    raise RuntimeError(f"{made} processes")


def replace_itself() -> None:
    """Become a program, which ignores what a shell can ignore."""
    _say_begun()
    os.execv("/bin/sh", ["/bin/sh", "-c", "trap '' ALRM TERM HUP INT; while :; do sleep 3600; done"])  # noqa: S606


def call_of_32_bits() -> None:
    """`getpid` by the door for programs of 32 bits."""
    _run_machine_code("b814000000cd80c3")


def call_of_x32() -> None:
    """`getpid` by the numbers of x32."""
    call_number(0x40000000 | 39)


def _run_machine_code(code: str) -> int:
    """Run instructions, given in hexadecimal digits, as a function without arguments."""
    if platform.machine() != "x86_64":
        raise NotImplementedError
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex(code))
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return int(ctypes.CFUNCTYPE(ctypes.c_long)(start)())
