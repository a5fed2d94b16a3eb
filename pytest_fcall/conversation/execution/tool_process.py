"""The process in which functions are called, from the parent's side: its folder, its environment variables, calls and
their time limits.
"""

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
from itertools import count
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS, EnvironmentSpec, Limits
from pytest_fcall.conversation.execution.walls import Walls
from pytest_fcall.core.conversation import CallResult

if TYPE_CHECKING:
    from types import TracebackType

    from pytest_fcall.core.values import Json


def make_folder() -> Path:
    """Make an empty folder that is this user's alone; its path leads through no links."""
    return Path(mkdtemp(prefix="fcall-")).resolve()


def remove_folder(folder: Path) -> None:
    """Remove the folder and all that is in it, however deep; what this user cannot remove stays behind."""
    with suppress(OSError):
        _empty_folder(folder)
        folder.rmdir()


def _empty_folder(folder: Path) -> None:
    """Carry up what lies in folders within, level by level: no path grows, and nothing recurses."""
    fresh = (folder / f"{token_hex(8)}-{number}" for number in count())
    while inside := list(os.scandir(folder)):
        for entry in inside:
            if not entry.is_dir(follow_symlinks=False):
                Path(entry).unlink()
                continue
            Path(entry).chmod(0o700)
            for deeper in list(os.scandir(entry)):
                Path(deeper).rename(next(fresh))
            Path(entry).rmdir()


_KEPT = frozenset(
    {
        *("PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
        *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "NUMBER_OF_PROCESSORS"),
    }
)
_SINGLE_THREADED: Mapping[str, str] = MappingProxyType(
    {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
)
"""Libraries take address space for each thread that they might start."""


def harmless_variables(variables: Mapping[str, str], folder: str) -> dict[str, str]:
    """What a program needs to run, and nothing that only its user knows; home and temporary files are in `folder`."""
    kept = {name: value for name, value in variables.items() if name.upper() in _KEPT or name.startswith("LC_")}
    return {**kept, **_SINGLE_THREADED, **dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), folder)}


_PATIENCE = 5.0
"""Seconds for the kernel to end a process that it was told to end."""
_OVERHEAD = 100_000
"""Bytes of a line beside the result; an error is told in no more than that, too."""
_NOT_FOUND = "ModuleNotFoundError"
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from pytest_fcall.conversation.execution.child import main; main()"
)
_SYSTEM_FILES = (
    *("/usr", "/lib", "/lib64", "/bin", "/opt", "/nix/store", "/System", "/Library"),
    *("/etc/localtime", "/etc/ld.so.cache", "/etc/mime.types", "/etc/ssl", "/etc/pki", "/etc/ca-certificates"),
    *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/resolv.conf"),
    *("/dev/zero", "/dev/random", "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu"),
)
"""What Python and its libraries look at, and where nothing of the user lies."""


class EnvironmentFailed(Exception):
    """What stands behind the tools could not be made. The text says why."""


class EnvironmentUnavailable(EnvironmentFailed):
    """It needs something that this machine lacks, and that nobody has to have. The text says what to do."""


class ToolProcess:
    """Calls functions in a process of their own, one call at a time.

    Made by `start`. When a call runs too long, says too much or ends the process, it is over with the process and
    what it held: that call and all later ones give an error that says so. `close` ends the process and all that it
    started, and takes its files away; leaving an `async with` does the same.
    """

    def __init__(self, process: asyncio.subprocess.Process, folder: Path, limits: Limits) -> None:
        self._process = process
        self._folder = folder
        self._limits = limits
        self._count = 0
        self._over: str | None = None
        self._printed = bytearray()
        self._listening = asyncio.create_task(self._listen())
        self.walls: tuple[str, ...] = ()
        """What keeps the process inside on this machine: `resources`, `landlock`, `seccomp`, `hook`."""

    @classmethod
    async def start(cls, behind: EnvironmentSpec, limits: Limits = DEFAULT_LIMITS) -> Self:
        """Start a process and make what stands behind the tools; WorldFailed where that cannot be done."""
        folder = make_folder()
        try:
            worker = cls(await _start_process(behind, limits, folder), folder, limits)
        except BaseException:
            remove_folder(folder)
            raise
        try:
            made = await worker._asked(_process_order(behind, limits, folder), limits.start_seconds)
        except BaseException:
            await worker.close()
            raise
        if made.error is not None:
            await worker.close()
            hint = f"; modules are looked for in {behind.root} first" if made.error.startswith(_NOT_FOUND) else ""
            raise EnvironmentFailed(f"{behind.environment or 'the functions'}: {made.error}{hint}")
        worker.walls = tuple(map(str, made.value)) if isinstance(made.value, list) else ()
        return worker

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Call the function of this name. What it raises is the error: its type and its text."""
        return await self._asked({"call": tool, "arguments": arguments}, self._limits.seconds)

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """Read the public attributes of these names, or all, as a mapping."""
        return await self._asked({"state": None if names is None else list(names)}, self._limits.seconds)

    @property
    def is_over(self) -> bool:
        """Whether a call has ended the process, so that nothing can be called any more."""
        return self._over is not None

    @property
    def printed(self) -> str:
        """The end of what was written to standard output and standard error."""
        return self._printed.decode(errors="replace")

    async def close(self) -> None:
        """End the process and all that it started, and take its files away."""
        self._kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._process.wait()
                await self._listening
        self._listening.cancel()
        if stdin := self._process.stdin:
            stdin.close()
        try:
            await asyncio.to_thread(remove_folder, self._folder)
        except RuntimeError:  # the interpreter is going down, and starts no threads any more
            remove_folder(self._folder)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _asked(self, question: Mapping[str, Json], seconds: float) -> CallResult:
        """Send a line and wait for its answer. Whatever else happens ends the process."""
        if self._over is not None:
            return CallResult(error=f"it was not called, since an earlier call ended the process: {self._over}")
        line = json.dumps(question).encode() + b"\n"
        try:
            async with asyncio.timeout(seconds):
                return await self._exchanged(line)
        except TimeoutError:
            self._over = f"it took longer than {seconds:g} s and was ended"
        except asyncio.LimitOverrunError:
            self._over = f"it said more than {self._limits.result:,} bytes and was ended"
        except (ConnectionError, asyncio.IncompleteReadError):
            self._over = await self._death()
        except (ValueError, RecursionError):
            self._over = "it wrote into the channel on which results travel, and was ended"
        except BaseException:
            self._over = "it was given up"
            self._kill()
            raise
        self._kill()
        return CallResult(error=self._over)

    async def _exchanged(self, line: bytes) -> CallResult:
        told, answers = self._process.stdin, self._process.stdout
        if told is None or answers is None:
            raise ConnectionError
        told.write(line)
        await told.drain()
        answer = _answer(await answers.readuntil(), self._count)
        self._count += 1
        return answer

    async def _death(self) -> str:
        """How the process came to its end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE / 10):
                await self._process.wait()
        status = self._process.returncode
        if status is None:
            return "it closed the channel on which results travel, and was ended"
        return f"it ended the process with status {status}" if status >= 0 else f"it was killed: {_signal(-status)}"

    def _kill(self) -> None:
        if sys.platform != "win32":
            with suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
                os.killpg(self._process.pid, signal.SIGKILL)
        elif self._process.returncode is None:
            told = ["taskkill", "/T", "/F", "/PID", str(self._process.pid)]  # children, too
            subprocess.run(told, check=False, capture_output=True)  # noqa: S603  # a number of ours

    async def _listen(self) -> None:
        """Take in what is printed, so that nobody waits for it to be read; keep the end."""
        while (stderr := self._process.stderr) and (said := await stderr.read(1 << 16)):
            self._printed += said
            del self._printed[: -self._limits.printed]


def _answer(line: bytes, number: int) -> CallResult:
    """Read the answer to the question of this number; ValueError or RecursionError where it is none."""
    match json.loads(line):
        case {"number": answered, "value": value, **rest} if answered == number and not rest:
            return CallResult(value)
        case {"number": answered, "error": str(error), **rest} if answered == number and rest.keys() <= {"place"}:
            place = rest.get("place")
            return CallResult(error=error, place=place if isinstance(place, str) else None)
    raise ValueError


async def _start_process(behind: EnvironmentSpec, limits: Limits, folder: Path) -> asyncio.subprocess.Process:
    paths = [str(behind.root), *sys.path]
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-B", "-X", "utf8", "-c", _START, json.dumps(paths)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**harmless_variables(os.environ, str(folder)), **limits.variables},
        limit=limits.result + _OVERHEAD,
        start_new_session=True,
    )


def _process_order(behind: EnvironmentSpec, limits: Limits, folder: Path) -> dict[str, Json]:
    installed = sysconfig.get_paths().values()
    python = (sys.prefix, sys.base_prefix, sys.exec_prefix, *installed, *filter(None, sys.path))
    readable = [*_SYSTEM_FILES, *python, str(behind.root), *map(str, limits.folders)]
    walls = Walls(
        readable=tuple(dict.fromkeys(path for path in readable if Path(path) != Path(path).parent)),
        writable=str(folder),
        memory=limits.memory,
        file=limits.file,
        network=limits.network,
        processes=limits.processes,
    )
    return {
        "environment": behind.environment,
        "setup": behind.setup,
        "functions": behind.functions,
        "walls": walls.to_data(),
        "root": str(behind.root),
        "result": limits.result,
        "seconds": limits.seconds,
        "start_seconds": limits.start_seconds,
    }


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
