"""The process in which functions are called, seen from its parent: its folder, variables, calls and time limits."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self

from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS, CallLimits, EnvironmentFailed, EnvironmentSpec
from pytest_fcall.conversation.execution.sandbox import SandboxRules, weakness
from pytest_fcall.core.conversation import CallResult

if TYPE_CHECKING:
    from pytest_fcall.core.values import Json

_END_SECONDS: Final = 5.0
"""Seconds for the kernel to end a killed process."""
_OVERHEAD: Final = 100_000
"""Bytes of a line besides the result; an error takes no more than that, either."""
_NOT_FOUND: Final = "ModuleNotFoundError"
_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from pytest_fcall.conversation.execution.child import main; main()"
)
_SYSTEM_FILES: Final = (
    *("/usr", "/lib", "/lib64", "/bin", "/opt", "/nix/store", "/System", "/Library"),
    *("/etc/localtime", "/etc/ld.so.cache", "/etc/mime.types", "/etc/ca-certificates"),
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem"),  # and not `private`, beside them
    *("/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf", "/etc/pki/tls/cert.pem", "/etc/pki/ca-trust/extracted"),
    *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/resolv.conf"),
    *("/dev/zero", "/dev/random", "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu"),
)
"""Files that Python and its libraries read, and that hold nothing of the user."""
_PASSED_VARIABLES: Final = frozenset(
    {
        *("PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
        *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "NUMBER_OF_PROCESSORS"),
    }
)
_SINGLE_THREADED: Final[Mapping[str, str]] = MappingProxyType(
    {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
)
"""Libraries reserve address space for each thread that they might start."""


class ToolProcess:
    """Calls functions in a process of their own, one call at a time. Made by `start`.

    A call that takes too long, returns too much or ends the process ends the environment, too: that call and all later
    ones give an error that says so. `close` ends the process and all that it started, and removes its files.
    """

    def __init__(self, process: asyncio.subprocess.Process, folder: Path, limits: CallLimits) -> None:
        self._process = process
        self._folder = folder
        self._limits = limits
        self._count = 0
        self._end_reason: str | None = None
        self._printed = bytearray()
        self._reader = asyncio.create_task(self._read_output())
        self.sandbox: tuple[str, ...] = ()
        """The parts of the sandbox that hold on this machine.

        Of `resources`, `namespaces`, `mounts`, `landlock`, `seccomp`, `asked` and `hook`.
        """

    @classmethod
    async def start(cls, spec: EnvironmentSpec, limits: CallLimits = DEFAULT_LIMITS) -> Self:
        """Start a process and make the environment in it. Raises EnvironmentFailed."""
        folder = _make_folder()
        try:
            process = cls(await _start_process(spec, limits, folder), folder, limits)
        except BaseException:  # cancellation, too
            _remove_folder(folder)
            raise
        try:
            made = await process._exchange(_process_spec(spec, limits, folder), limits.start_seconds)
        except BaseException:  # cancellation, too
            await process.close()
            raise
        if made.error is not None:
            await process.close()
            hint = f"; modules are looked for in {spec.root} first" if made.error.startswith(_NOT_FOUND) else ""
            raise EnvironmentFailed(f"{spec.environment or 'the functions'}: {made.error}{hint}")
        process.sandbox = tuple(map(str, made.value)) if isinstance(made.value, list) else ()
        return process

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Call the function of this name. The error of an exception is its type and its text."""
        return await self._exchange({"call": tool, "arguments": arguments}, self._limits.seconds)

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """Read the public attributes of these names, or all, as a mapping."""
        return await self._exchange({"state": None if names is None else list(names)}, self._limits.seconds)

    @property
    def weakness(self) -> str | None:
        """A sentence on what does not hold functions on this machine, or None where all does."""
        return weakness(self.sandbox)

    @property
    def has_ended(self) -> bool:
        """Whether a call has ended the process, so that no further call is possible."""
        return self._end_reason is not None

    @property
    def printed(self) -> str:
        """The end of what was written to standard output and standard error."""
        return self._printed.decode(errors="replace")

    async def close(self) -> None:
        """End the process and all that it started, and remove its files."""
        self._kill()
        try:
            await self._wait_for_end()
        except TimeoutError:
            self._kill_group()
            with suppress(TimeoutError):
                await self._wait_for_end()
        self._reader.cancel()
        if stdin := self._process.stdin:
            stdin.close()
        try:
            await asyncio.to_thread(_remove_folder, self._folder)
        except RuntimeError:  # the interpreter shuts down and starts no more threads
            _remove_folder(self._folder)

    async def _exchange(self, message: Mapping[str, Json], seconds: float) -> CallResult:
        """Send a line and wait for its answer; anything else that happens ends the process."""
        if self._end_reason is not None:
            return CallResult(error=f"not called: an earlier call ended the process ({self._end_reason})")
        line = json.dumps(message).encode() + b"\n"
        try:
            async with asyncio.timeout(seconds):
                return await self._answer(line)
        except TimeoutError:
            self._end_reason = f"it took longer than {seconds:g} s; the process was killed"
        except asyncio.LimitOverrunError:
            self._end_reason = f"the result is larger than {self._limits.result:,} bytes; the process was killed"
        except (ConnectionError, asyncio.IncompleteReadError):
            self._end_reason = await self._exit_reason()
        except (ValueError, RecursionError):
            self._end_reason = "it wrote into the channel of the results; the process was killed"
        except BaseException:  # cancellation, or Ctrl+C
            self._end_reason = "the call was cancelled"
            self._kill()
            raise
        self._kill()
        return CallResult(error=self._end_reason)

    async def _answer(self, line: bytes) -> CallResult:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise ConnectionError
        stdin.write(line)
        await stdin.drain()
        answer = _read_answer(await stdout.readuntil(), self._count)
        self._count += 1
        return answer

    async def _exit_reason(self) -> str:
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS / 10):
                await self._process.wait()
        status = self._process.returncode
        if status is None:
            return "it closed the channel of the results; the process was killed"
        return f"it ended the process with status {status}" if status >= 0 else f"it was killed: {_signal(-status)}"

    async def _wait_for_end(self) -> None:
        async with asyncio.timeout(_END_SECONDS):
            while (stdout := self._process.stdout) and await stdout.read(1 << 16):
                pass  # what nobody reads keeps the pipe open, and the process is waited for as long
            await self._reader
            await self._process.wait()

    def _kill(self) -> None:
        """End the process and all that it started. On Linux its watcher does it, which takes away what has ended."""
        if sys.platform == "linux" and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)
        else:
            self._kill_group()

    def _kill_group(self) -> None:
        if sys.platform != "win32":
            with suppress(ProcessLookupError, PermissionError):  # macOS raises the latter for a group of zombies
                os.killpg(self._process.pid, signal.SIGKILL)
        elif self._process.returncode is None:
            command = ["taskkill", "/T", "/F", "/PID", str(self._process.pid)]  # with its children
            subprocess.run(command, check=False, capture_output=True)  # noqa: S603  # a number of ours

    async def _read_output(self) -> None:
        """Read what is printed, so that the process never waits for it; keep the end."""
        while (stderr := self._process.stderr) and (text := await stderr.read(1 << 16)):
            self._printed += text
            del self._printed[: -self._limits.printed]


def _read_answer(line: bytes, number: int) -> CallResult:
    """The answer to the message of this number. Raises ValueError or RecursionError where the line is not one."""
    match json.loads(line):
        case {"number": answered, "value": value, **rest} if answered == number and not rest:
            return CallResult(value)
        case {"number": answered, "error": str(error), **rest} if answered == number and rest.keys() <= {"place"}:
            place = rest.get("place")
            return CallResult(error=error, place=place if isinstance(place, str) else None)
    raise ValueError


async def _start_process(spec: EnvironmentSpec, limits: CallLimits, folder: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-B", "-X", "utf8", "-c", _START, json.dumps([str(spec.root), *sys.path])),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**_harmless_variables(os.environ, str(folder)), **limits.variables},
        limit=limits.result + _OVERHEAD,
        start_new_session=True,
    )


def _harmless_variables(variables: Mapping[str, str], folder: str) -> dict[str, str]:
    """The variables that programs need and that hold no secrets; home and temporary files are in `folder`."""
    passed = {
        name: value for name, value in variables.items() if name.upper() in _PASSED_VARIABLES or name.startswith("LC_")
    }
    return {**passed, **_SINGLE_THREADED, **dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), folder)}


def _process_spec(spec: EnvironmentSpec, limits: CallLimits, folder: Path) -> dict[str, Json]:
    """The first line sent to the process."""
    rules = SandboxRules(
        readable=_readable_paths(tuple(sys.path), spec.root, limits.folders),
        writable=str(folder),
        memory=limits.memory,
        file=limits.file,
        network=limits.network,
        processes=limits.processes,
        weaker=limits.weaker,
    )
    return {
        "environment": spec.environment,
        "setup": spec.setup,
        "functions": spec.functions,
        "sandbox": rules.to_data(),
        "parent": os.getpid(),
        "root": str(spec.root),
        "result": limits.result,
        "seconds": limits.seconds,
        "start_seconds": limits.start_seconds,
    }


@lru_cache(maxsize=16)
def _readable_paths(python_path: tuple[str, ...], root: Path, folders: tuple[Path, ...]) -> tuple[str, ...]:
    """The files of the system, of Python and of the project; never a whole file system."""
    installed = sysconfig.get_paths().values()
    python = (sys.prefix, sys.base_prefix, sys.exec_prefix, *installed, *filter(None, python_path))
    paths = [*_SYSTEM_FILES, *python, str(root), *map(str, folders)]
    return tuple(dict.fromkeys(path for path in paths if Path(path) != Path(path).parent))


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _make_folder() -> Path:
    """Make an empty folder that only this user can enter; its path contains no links."""
    return Path(mkdtemp(prefix="fcall-")).resolve()


def _remove_folder(folder: Path) -> None:
    """Remove the folder with all that is in it; files that this user cannot remove stay."""
    with suppress(OSError):
        _empty_folder(folder)
        folder.rmdir()


def _empty_folder(folder: Path) -> None:
    """Move the contents of inner folders up, level by level: neither paths nor a recursion get deep."""
    fresh = (folder / f"{token_hex(8)}-{number}" for number in count())
    while entries := list(os.scandir(folder)):
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                Path(entry).unlink()
                continue
            Path(entry).chmod(0o700)
            for deeper in list(os.scandir(entry)):
                Path(deeper).rename(next(fresh))
            Path(entry).rmdir()
