"""`pytest`, its workers and `fcall` in processes of their own that start at once.

They are forked from one process that has imported everything.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Any
from unittest.mock import patch

import execnet.gateway_io
import pytest
from execnet.gateway_base import ExecModel, Popen2IO

# What a run imports takes longer than the run.
import tests.integration.exam
import tests.integration.kept  # noqa: F401
from pytest_fcall.cli import main as fcall
from tests.fork_server import FORKING

_THIS_MODULE = sys.modules[__name__]
_RUN = subprocess.run
_PROGRAMS: dict[str, Callable[[list[str]], int]] = {"fcall": fcall, "pytest": pytest.main}
_PLUGINS = ("anyio", "pytest_fcall", "syrupy", "xdist")
"""pytest warns of plugins that are there before it could rewrite them."""


class Run:
    """A run of pytest, whose process leads a group of its own."""

    def __init__(self, folder: Path, args: Sequence[str], *, largest_file: int | None = None) -> None:
        self._output = folder / "output.txt"
        given = (folder, self._output, args, dict(os.environ), largest_file)
        self.process = _process(_run, *given)
        self.process.start()

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def ended(self, patience: float = 60) -> int:
        """Wait for the end, and return the exit status; where it does not end, tell what each thread is doing."""
        self.process.join(patience)
        if self.process.exitcode is None:
            os.kill(self.pid, signal.SIGUSR1)
            self.process.join(1)
            self.process.kill()
            raise AssertionError(f"the run did not end: {self.output}")
        return self.process.exitcode

    def has_written(self, text: str, patience: float = 60) -> None:
        """Return once this is in its output."""
        until = time.monotonic() + patience
        while text not in self.output:
            self.process.join(0.05)
            assert self.process.exitcode is None, self.output
            assert time.monotonic() < until, self.output

    def interrupt(self, send: Callable[[int, int], None] = os.killpg, patience: float = 60) -> None:
        """Press Ctrl-C, to the whole group or to the run alone (`os.kill`), once the run waits for something.

        pytest itself breaks on an interrupt at an instruction to which Python 3.11 gives no line.
        """
        until = time.monotonic() + patience
        while not _sleeps(self.pid):
            self.process.join(0.001)
            assert self.process.exitcode is None, self.output
            assert time.monotonic() < until, self.output
        send(self.pid, signal.SIGINT)

    @property
    def output(self) -> str:
        return self._output.read_text("utf-8") if self._output.exists() else ""


def completed(
    program: str, folder: Path, arguments: Sequence[str], environment: Mapping[str, str], patience: float = 280
) -> subprocess.CompletedProcess[str]:
    """Run `fcall` or `pytest` as if by `python -m` in the folder, to its end.

    Where it does not end, tell what each thread is doing.
    """
    with tempfile.TemporaryDirectory() as apart:
        output, errors = Path(apart, "output"), Path(apart, "errors")
        given = (program, folder, (output, errors), arguments, dict(environment))
        process = _process(_complete, *given)
        process.start()
        process.join(patience)
        if process.exitcode is None:
            os.kill(process.pid or 0, signal.SIGUSR1)
            process.join(1)
            process.kill()
            raise AssertionError(f"it did not end: {output.read_text('utf-8')}\n{errors.read_text('utf-8')}")
        written = [each.read_bytes().decode("utf-8") for each in (output, errors)]
        return subprocess.CompletedProcess([program, *arguments], process.exitcode, *written)


def run_pytest(pytester: pytest.Pytester, *arguments: str, timeout: float = 120) -> pytest.RunResult:
    """Stands in for `runpytest_subprocess`."""
    started = time.perf_counter()
    temporary = f"--basetemp={pytester.path / 'runpytest'}"
    done = completed("pytest", Path.cwd(), [temporary, *arguments], os.environ, timeout)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    lines = (done.stdout.splitlines(), done.stderr.splitlines())
    return pytest.RunResult(done.returncode, *lines, time.perf_counter() - started)


def run_module(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Stands in for `subprocess.run` where a command of ours runs another module of ours, in a Python of its own."""
    if [*command[:3]] != [sys.executable, "-P", "-m"] or not command[3].startswith("pytest_fcall.cli."):
        return _RUN(command, **options)
    folder, environment = options.get("cwd") or Path.cwd(), dict(options.get("env") or os.environ)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors, open(os.devnull, "rb") as nothing:  # noqa: PTH123
        kept = (output.fileno(), errors.fileno()) if options.get("capture_output") else (options["stdout"], 2)
        ends = tuple(Connection(os.dup(each)) for each in (nothing.fileno(), *kept))
        process = started_with(ends, _run_module, folder, environment, command[3], command[4:])
        try:
            process.join(options.get("timeout"))
            if process.exitcode is None:
                raise subprocess.TimeoutExpired(command, options["timeout"])
        finally:
            process.kill()
        for each in (output, errors):
            each.seek(0)
        written = [each.read().decode("utf-8", "replace") for each in (output, errors)]
    return subprocess.CompletedProcess(command, process.exitcode, *written)


class Worker(Popen2IO):
    """A worker of pytest-xdist: stands in for `Popen2IOMaster`, the process that execnet starts."""

    def __init__(self, args: Sequence[str], execmodel: ExecModel) -> None:
        stdin, to_worker = FORKING.Pipe(duplex=False)
        from_worker, stdout = FORKING.Pipe(duplex=False)
        ends = (stdin, stdout, Connection(os.dup(2), readable=False))
        self._process = started_with(ends, _work, Path.cwd(), dict(os.environ))
        super().__init__(_file(to_worker, "wb"), _file(from_worker, "rb"), execmodel=execmodel)

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()


def _sleeps(pid: int) -> bool:
    """Whether no thread of the process runs or could run. Where the system does not say, it is supposed."""
    threads = Path("/proc", str(pid), "task").glob("*/stat")
    try:
        return all(each.read_text("utf-8").rpartition(")")[2].split()[0] == "S" for each in threads)
    except OSError:  # a thread has ended meanwhile
        return False


def started_with(ends: tuple[Connection, ...], target: Callable[..., None], *given: object) -> BaseProcess:
    """Start a process, also from one that was forked itself, and leave its standard files to it."""
    sys.modules[__name__] = _THIS_MODULE  # the run may have forgotten it, and pickle looks it up
    with _same_server():
        process = _process(target, ends, *given)
        process.start()
    for end in ends:
        end.close()
    return process


def _process(target: Callable[..., None], *given: object) -> BaseProcess:
    """A process that is forked by the server, and that may ask it for another one: Python 3.14 wants a key for that."""
    forkserver._forkserver.ensure_running()
    key = getattr(forkserver._forkserver, "_forkserver_authkey", None)
    return FORKING.Process(target=_with_key, args=(key, target, *given))


def _with_key(key: bytes | None, target: Callable[..., None], *given: object) -> None:
    forkserver._forkserver._forkserver_authkey = key  # type: ignore[attr-defined]  # earlier Pythons have none
    target(*given)


def _same_server() -> AbstractContextManager[object]:
    """Have a forked process ask the server that forked it for another one; it would start a server of its own."""
    if multiprocessing.parent_process() is None or not getattr(forkserver._forkserver, "_forkserver_address", ""):
        return nullcontext()
    return patch.object(forkserver._forkserver, "ensure_running")


def _file(end: Connection, mode: str) -> IO[bytes]:
    with end:
        return os.fdopen(os.dup(end.fileno()), mode)


def _run(
    folder: Path, output: Path, args: Sequence[str], environment: Mapping[str, str], largest_file: int | None
) -> None:
    os.setsid()
    _begin(folder, (output, output), environment)
    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY))
    sys.exit(pytest.main([*args]))


def _complete(
    program: str, folder: Path, written: tuple[Path, Path], arguments: Sequence[str], environment: Mapping[str, str]
) -> None:
    _begin(folder, written, environment)
    sys.path.insert(0, str(folder))
    execnet.gateway_io.Popen2IOMaster = Worker  # type: ignore[misc,assignment]
    subprocess.run = run_module  # type: ignore[assignment]
    _forget_tests()
    sys.exit(_PROGRAMS[program]([*arguments]))


def _work(ends: tuple[Connection, ...], folder: Path, environment: Mapping[str, str]) -> None:
    _enter_with(ends, folder, environment)
    exec(eval(sys.stdin.readline()))  # noqa: S102, S307 - this is how execnet has a worker begin


def _run_module(
    ends: tuple[Connection, ...], folder: Path, environment: Mapping[str, str], module: str, arguments: Sequence[str]
) -> None:
    begin_with(ends, folder, environment)
    sys.exit(import_module(module).main(*arguments))


def begin_with(ends: tuple[Connection, ...], folder: Path, environment: Mapping[str, str]) -> None:
    """Begin a program in the folder, with these as standard input, output and errors. Its workers are forked, too."""
    _enter_with(ends, folder, environment)
    faulthandler.register(signal.SIGUSR1, file=sys.stderr)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    execnet.gateway_io.Popen2IOMaster = Worker  # type: ignore[misc,assignment]


def _enter_with(ends: tuple[Connection, ...], folder: Path, environment: Mapping[str, str]) -> None:
    """Enter the folder, with these as standard input, output and errors."""
    _enter(folder, environment)
    for descriptor, end in enumerate(ends):
        os.dup2(end.fileno(), descriptor)
        end.close()
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    _write_to_descriptors("utf-8")
    _forget_tests()


def _forget_tests() -> None:
    """The folder of a run may have tests of its own. To take modules apart would copy memory that is shared."""
    for name in names_of_tests():
        sys.modules[f"forgotten.{name}"] = sys.modules.pop(name)


@cache
def names_of_tests() -> tuple[str, ...]:
    """The modules of tests. The server asks first, as who looks at all modules copies the memory that they are in."""
    return tuple(name for name in sys.modules if name.partition(".")[0] == "tests")


def _begin(folder: Path, written: tuple[Path, Path], environment: Mapping[str, str]) -> None:
    _enter(folder, environment)
    # All left open: what escapes a program is written there by multiprocessing.
    for descriptor, path in enumerate(written, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
    _write_to_descriptors(environment.get("PYTHONIOENCODING", "utf-8"))
    faulthandler.register(signal.SIGUSR1, file=sys.stderr)
    # A shell's background job is born deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _enter(folder: Path, environment: Mapping[str, str]) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    # The server has its method inherited, by which a pool of processes would begin with a server of its own.
    multiprocessing.set_start_method(None, force=True)
    # What was compiled counts as new for a file of the same length that was changed within the same second.
    sys.dont_write_bytecode = True
    for name in _PLUGINS:
        plugin = sys.modules[name]
        plugin.__doc__ = f"{plugin.__doc__}\nPYTEST_DONT_REWRITE"


def _write_to_descriptors(encoding: str) -> None:
    sys.stdout = open(1, "w", encoding=encoding, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding=encoding, closefd=False, errors="backslashreplace", buffering=1)  # noqa: SIM115
