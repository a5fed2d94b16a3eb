"""What may be done and hurts nobody, and what ends the process."""

from __future__ import annotations

import asyncio
import ctypes
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any


def print_much() -> str:
    for _ in range(1_000):
        sys.stdout.write("x" * 10_000)
    sys.stdout.write("the end")
    return "done"


def write_on_the_descriptors() -> str:
    os.write(1, b'{"number": 1, "value": "forged"}\n')
    os.write(2, b"\xff\x00")
    return "done"


def close_the_streams() -> str:
    sys.stdout.close()
    os.close(1)
    os.close(2)
    return "done"


def replace_the_streams() -> str:
    sys.stdout = sys.stderr = None
    return "done"


def wait_for_input() -> str:
    return sys.stdin.read() or "nothing"


def leave_a_thread() -> str:
    threading.Thread(target=time.sleep, args=(3_600,), daemon=True).start()
    threading.Thread(target=time.sleep, args=(3_600,)).start()
    return "done"


def ignore_signals() -> str:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    return "done"


def nest_folders() -> str:
    for _ in range(1_500):
        Path("a").mkdir()
        os.chdir("a")
    return "done"


def lock_the_folder() -> str:
    Path("locked", "in").mkdir(parents=True)
    Path("locked").chmod(0)
    return "done"


def loop() -> None:
    while True:
        pass


def loop_and_catch() -> None:
    while True:
        try:
            loop()
        except BaseException:  # noqa: S112  # that is the attempt
            continue


def hold_the_interpreter() -> bool:
    return bool(re.match(r"(a+)+$", "a" * 60 + "b"))


async def wait_forever() -> None:
    await asyncio.Event().wait()


def stop() -> None:
    signal.raise_signal(signal.SIGSTOP)


def exit_at_once() -> None:
    os._exit(0)


def abort() -> None:
    os.abort()


def crash() -> None:
    ctypes.string_at(0)


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def close_everything() -> None:
    os.closerange(0, 256)


def flood_everything() -> None:
    for number in range(3, 256):
        try:
            while True:
                os.write(number, bytes(1 << 20))
        except OSError:
            continue


def flood_everything_afterwards() -> None:
    threading.Thread(target=flood_everything, daemon=True).start()


def say_everywhere(line: bytes) -> None:
    for number in range(3, 256):
        try:
            os.write(number, line)
        except OSError:
            continue


def forge() -> None:
    say_everywhere(b'{"number": 7, "value": "forged"}\n')


def forge_nonsense() -> None:
    say_everywhere(b"[" * 100_000 + b"\n")


def forge_a_number() -> None:
    say_everywhere(b"1\n")


def forge_an_error() -> None:
    say_everywhere(b'{"number": 1, "error": ["forged"]}\n')


def forge_more() -> None:
    say_everywhere(b'{"number": 1, "value": "forged", "sandbox": []}\n')


def recurse_without_limit() -> None:
    sys.setrecursionlimit(10**9)

    def deeper(value: Any) -> Any:
        return sorted([value], key=deeper)

    deeper(0)


def take_long_to_say_why() -> None:
    class Slow(Exception):
        def __str__(self) -> str:
            loop()
            return ""

    raise Slow


def take_long_to_be_told() -> object:
    class Slow:
        @property
        def tolist(self) -> None:
            loop()

    return Slow()


def start_threads_without_end() -> None:
    while True:
        threading.Thread(target=time.sleep, args=(3_600,), daemon=True).start()
