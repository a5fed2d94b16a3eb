"""The network, other processes and the machine."""

from __future__ import annotations

import asyncio
import ctypes
import multiprocessing
import os
import resource
import socket
import subprocess
import time
import urllib.request
from typing import Any

from tests.unit.conversation.execution.attempts.c_library import libc

NULL = None


def connect(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), 1)


def connect_around_python() -> int:
    return libc("socket", socket.AF_INET, socket.SOCK_STREAM, 0)


def fetch(port: int) -> bytes:
    return bytes(urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=1).read())


def send_a_datagram(port: int) -> int:
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port))


def look_a_name_up() -> list[Any]:
    return socket.getaddrinfo("example.invalid", 80)


def listen() -> None:
    socket.create_server(("127.0.0.1", 0))


def reach_a_local_service() -> None:
    socket.socket(socket.AF_UNIX).connect("/run/service.sock")


async def connect_asynchronously(port: int) -> None:
    await asyncio.open_connection("127.0.0.1", port)


def ask_the_kernel_to_connect() -> int:
    return libc("syscall", 425, 8, ctypes.create_string_buffer(120))  # io_uring_setup


def run_a_program() -> int:
    return subprocess.run(["true"], check=False).returncode


def run_a_shell() -> int:
    return os.system("true")  # noqa: S605  # that is the attempt


def run_a_shell_around_python() -> int:
    if (status := libc("system", b"true")) != 127 << 8:
        return status
    raise PermissionError("the shell could not be started")


def become_a_program() -> None:
    os.execv("/bin/true", ["true"])  # noqa: S606  # that is the attempt


def become_a_program_around_python() -> int:
    argv = (ctypes.c_char_p * 2)(b"true", None)
    return libc("execv", b"/bin/true", argv)


def spawn() -> int:
    return os.posix_spawn("/bin/true", ["true"], {})


def fork() -> int:
    return os.fork() or os._exit(0)


def fork_around_python() -> int:
    return libc("fork") or os._exit(0)


def fork_bomb() -> None:
    for _ in range(50):  # enough to tell, should it ever go off
        if libc("fork") == 0:
            time.sleep(1)
            os._exit(0)


def use_multiprocessing() -> None:
    process = multiprocessing.get_context("spawn").Process(target=time.time)
    process.start()


def signal_the_parent(number: int) -> None:
    os.kill(number, 0)


def signal_the_parent_around_python(number: int) -> int:
    return libc("kill", number, 0)


def signal_everybody() -> None:
    os.kill(-1, 0)


def signal_the_parents_group(number: int) -> None:
    os.killpg(number, 0)


def trace_the_parent(number: int) -> int:
    return libc("ptrace", 0x4206, number, NULL, NULL)  # PTRACE_SEIZE


def leave_the_group(number: int) -> None:
    os.setpgid(0, number)


def start_a_session() -> None:
    os.setsid()


def raise_the_limits() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def enter_a_world_of_its_own() -> int:
    return libc("unshare", 0x10000000)


def change_the_root() -> int:
    return libc("chroot", b".")
