"""`python`, `pytest` and `fcall` for a shell: programs that are forked, and so start at once.

A shell finds them, and they have the arguments, variables and files that it gives them. Left out are the imports, and
what Python does before its first line.
"""

from __future__ import annotations

import marshal
import os
import runpy
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from tests import forked

_MODULES = {"fcall": "pytest_fcall.cli", "pytest": "pytest"}
_ASK = """
import os, sys
from _socket import AF_UNIX, SCM_RIGHTS, SHUT_WR, SOL_SOCKET, socket
from marshal import dumps

server = socket(AF_UNIX)
server.connect(sys.argv.pop(1))
given = dumps((sys.argv[1:], os.getcwd(), dict(os.environ)))
files = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
sent = server.sendmsg([given], [(SOL_SOCKET, SCM_RIGHTS, files)])
while sent < len(given):
    sent += server.send(given[sent:])
server.shutdown(SHUT_WR)
sys.exit(int(server.recv(9) or 1))
"""


@contextmanager
def forked_programs() -> Iterator[Path]:
    """The folder that holds these programs, for as long as they are served."""
    # The address of a socket must be short.
    with TemporaryDirectory() as name, socket.socket(socket.AF_UNIX) as listener:
        folder = Path(name)
        (folder / "ask.py").write_text(_ASK, "utf-8")
        for program in ("python", *_MODULES):
            path = folder / program
            ask = f"exec '{sys.executable}' -IS '{folder}/ask.py' '{folder}/socket' '{path}' \"$@\""
            path.write_text(f"#!/bin/bash\n{ask}\n", "utf-8")
            path.chmod(0o755)
        listener.bind(str(folder / "socket"))
        listener.listen()
        until, end = Pipe(duplex=False)
        server = Thread(target=_serve, args=(listener, until))
        server.start()
        try:
            yield folder
        finally:
            end.close()
            server.join()
            until.close()


def _serve(listener: socket.socket, until: Connection) -> None:
    """Fork what is asked for. One thread does it: only one at a time may wait for a process."""
    at_work: dict[int, tuple[BaseProcess, socket.socket]] = {}
    try:
        while until not in (ready := wait([listener, until, *at_work])):
            if listener in ready:
                asking, _ = listener.accept()
                process = _started(asking)
                at_work[process.sentinel] = (process, asking)
            for sentinel in [each for each in at_work if each in ready]:
                process, asking = at_work.pop(sentinel)
                process.join()
                with asking:
                    asking.sendall(str(_status(process)).encode())
    finally:
        for process, asking in at_work.values():
            process.kill()
            process.join()
            asking.close()


def _started(asking: socket.socket) -> BaseProcess:
    given, files, _, _ = socket.recv_fds(asking, 1 << 20, 3)
    while more := asking.recv(1 << 20):
        given += more
    ends = (Connection(files[0], writable=False), *(Connection(each, readable=False) for each in files[1:]))
    return forked.started_with(ends, _run, *marshal.loads(given))  # noqa: S302 - `_ASK` has written it


def _status(process: BaseProcess) -> int:
    """What a shell says of it, also where it was killed."""
    status = process.exitcode or 0
    return status if status >= 0 else 128 - status


def _run(ends: tuple[Connection, ...], given: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
    forked.begin_with(ends, Path(folder), environment)
    program, *arguments = given
    # What it starts itself is forked, too.
    sys.executable = str(Path(program).with_name("python"))
    if module := _MODULES.get(Path(program).name):
        arguments = ["-P", "-m", module, *arguments]
    first = 1 if arguments[0] == "-P" else 0
    _run_python(arguments[first:], folder_first=not first)


def _run_python(arguments: Sequence[str], *, folder_first: bool) -> None:
    """Do as `python` does with these arguments; options other than `-c` and `-m` are not known here."""
    match arguments:
        case ["-c", code, *rest]:
            sys.argv, sys.path[:0] = ["-c", *rest], [""] * folder_first
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 - as Python does
        case ["-m", module, *rest]:
            sys.argv, sys.path[:0] = ["-m", *rest], [os.getcwd()] * folder_first  # noqa: PTH109 - a text, as Python has it
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case [script, *rest]:
            sys.argv, sys.path[:0] = [script, *rest], [os.path.dirname(script)] * folder_first  # noqa: PTH120 - the same
            runpy.run_path(script, run_name="__main__")
