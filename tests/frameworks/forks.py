"""A Python that forks for each command, and so needs no time to start: `python forks.py MODULE…`, in any environment.

It imports the plugins of pytest and the modules that it is given, and later what commands have imported beside them. It
reads commands from its input, a line of JSON each, and answers each with its exit status.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import signal
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from execnet import gateway_io
from execnet.gateway_base import ExecModel, Popen2IO

PATIENCE = 300
"""So many seconds a command may take."""
PLUGINS = [entry.value for entry in metadata.entry_points(group="pytest11")]


def _import(names: Iterable[str]) -> None:
    for name in names:
        if name not in sys.modules:
            with suppress(ImportError):  # a module may be known by a name that only those who made it can import
                import_module(name)


def _spare_plugins_from_rewriting() -> None:
    """Pytest warns of plugins that are there before it could rewrite them."""
    for name in PLUGINS:
        package = sys.modules[name.partition(".")[0]]
        package.__doc__ = f"{package.__doc__}\nPYTEST_DONT_REWRITE"


class Worker(Popen2IO):
    """A worker of pytest-xdist: stands in for `Popen2IOMaster`, the process that execnet starts."""

    def __init__(self, nursery: socket.socket, args: object, execmodel: ExecModel) -> None:
        stdin, to_worker = os.pipe()
        from_worker, stdout = os.pipe()
        self._lives, life = os.pipe()
        ends = [stdin, stdout, life]
        socket.send_fds(nursery, [json.dumps(dict(os.environ)).encode()], ends)
        for end in ends:
            os.close(end)
        super().__init__(os.fdopen(to_worker, "wb"), os.fdopen(from_worker, "rb"), execmodel=execmodel)

    def wait(self) -> None:
        os.read(self._lives, 1)

    def kill(self) -> None:
        """It ends by its alarm."""


def _begin_nursery() -> bool:
    """Begin a process that forks workers, since a run has never begun in it. True in each worker."""
    asked, answers = socket.socketpair(type=socket.SOCK_SEQPACKET)
    if os.fork():
        answers.close()
        gateway_io.Popen2IOMaster = partial(Worker, asked)  # type: ignore[assignment,misc]
        return False
    asked.close()
    while True:
        environment, ends, _, _ = socket.recv_fds(answers, 1 << 20, 3)
        if not environment:
            os._exit(0)
        if not os.fork():
            break
        for end in ends:
            os.close(end)
    answers.close()
    signal.alarm(PATIENCE)
    _have_variables(json.loads(environment))
    stdin, stdout, _ = ends
    os.dup2(stdin, 0)
    os.dup2(stdout, 1)
    os.close(stdin)
    os.close(stdout)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    return True


def _have_variables(environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)


def _become(command: dict[str, Any]) -> None:
    signal.alarm(PATIENCE)
    os.chdir(command["folder"])
    _have_variables(command["environment"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    output = os.open(command["output"], os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.path[0] = command["folder"]
    sys.argv[1:] = command["arguments"]
    # What was compiled counts as new for a file of the same length that was changed within the same second.
    sys.dont_write_bytecode = True
    # At its end pytest collects garbage, and would look through all that was imported here.
    gc.freeze()


def _tell_modules(told: Path, folder: Path) -> None:
    """Say what a process has imported beside the files of its project."""
    files = {name: getattr(module, "__file__", None) for name, module in [*sys.modules.items()]}
    names = [name for name, file in files.items() if file and folder not in Path(file).parents]
    told.write_text("\n".join(names), encoding="utf-8")


def _forked() -> str:
    """The module to run; nothing for a worker. Returns in each process that was forked."""
    for line in sys.stdin:
        command = json.loads(line)
        child = os.fork()
        if not child:
            _become(command)
            if "-n" in command["arguments"] and _begin_nursery():
                return ""
            atexit.register(_tell_modules, Path(command["modules"]), Path(command["folder"]))
            return str(command["module"])
        _, status = os.waitpid(child, 0)
        if (told := Path(command["modules"])).exists():
            _import(told.read_text(encoding="utf-8").split())
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - this is the answer
    sys.exit()


if __name__ == "__main__":
    _import(["pytest", "xdist.dsession", "xdist.workermanage", *PLUGINS, *sys.argv[1:]])
    _spare_plugins_from_rewriting()
    if module := _forked():
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        exec(eval(sys.stdin.readline()))  # noqa: S102, S307 - this is how execnet has a worker begin
