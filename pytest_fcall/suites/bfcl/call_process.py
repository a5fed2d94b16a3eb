"""A contained process that calls functions. It starts with the first call and serves all later ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from multiprocessing.util import Finalize
from pathlib import Path
from threading import Lock, Thread
from typing import Final

from pytest_fcall.conversation.execution.limits import CallLimits, EnvironmentFailed, EnvironmentSpec
from pytest_fcall.conversation.execution.tool_process import ToolProcess
from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.values import Json

_ROOT: Final = Path(__file__).parents[__name__.count(".")]
"""The folder that holds the package."""
_EXIT_PRIORITY: Final = 10


class CallProcess:
    """Calls the functions of an environment, given as `module:factory`. Calls are independent of each other.

    The process starts with the first call, and ends when this object is collected. If a call ends the process, the
    next call starts another.
    """

    def __init__(self, environment: str, limits: CallLimits) -> None:
        self._lock = Lock()
        self._thread: _CallThread | None = None
        self._environment = EnvironmentSpec(_ROOT, environment)
        self._limits = replace(limits, weaker=True)  # the functions are known: a model chooses names and literals only

    def call(self, name: str, arguments: Mapping[str, Json]) -> CallResult:
        """Return the result of a call, or its error, or that of the process. Raises EnvironmentFailed."""
        with self._lock:
            if self._thread is None:
                self._thread = _CallThread(self._environment, self._limits)
                Finalize(self, self._thread.begin_end)
            return self._thread.call(name, arguments)


class _CallThread:
    """The thread with the event loop in which the process is awaited."""

    def __init__(self, environment: EnvironmentSpec, limits: CallLimits) -> None:
        self._environment = environment
        self._limits = limits
        self._process: ToolProcess | None = None
        self._failure: str | None = None
        self._loop = asyncio.new_event_loop()
        self._must_end = asyncio.Event()
        self._thread = Thread(target=self._run, name="fcall-bfcl", daemon=True)
        self._at_exit = Finalize(None, self._end, exitpriority=_EXIT_PRIORITY)
        self._thread.start()

    def call(self, name: str, arguments: Mapping[str, Json]) -> CallResult:
        return asyncio.run_coroutine_threadsafe(self._answer(name, arguments), self._loop).result()

    def begin_end(self) -> None:
        """Have the process and the thread end, without waiting for them.

        The collector interrupts any code, which may hold what the end needs.
        """
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._must_end.set)

    def _end(self) -> None:
        self.begin_end()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._close_once_told())
        finally:
            self._loop.close()
            self._at_exit.cancel()

    async def _answer(self, name: str, arguments: Mapping[str, Json]) -> CallResult:
        if self._process is None:
            self._process = await self._start()
        answer = await self._process.call(name, arguments)
        if self._process.has_ended:
            await self._close()
        return answer

    async def _start(self) -> ToolProcess:
        """Start a process. After a failure no second start is tried."""
        if self._failure is None:
            try:
                return await ToolProcess.start(self._environment, self._limits)
            except EnvironmentFailed as error:
                self._failure = str(error)
        raise EnvironmentFailed(self._failure)

    async def _close_once_told(self) -> None:
        await self._must_end.wait()
        await self._close()

    async def _close(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            await process.close()
