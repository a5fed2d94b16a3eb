"""A contained process that calls functions, started with the first call and kept for the next ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from multiprocessing.util import Finalize
from pathlib import Path
from threading import Lock, Thread, current_thread
from typing import Final

from pytest_fcall.conversation.execution.limits import EnvironmentFailed, EnvironmentSpec, Limits
from pytest_fcall.conversation.execution.tool_process import ToolProcess
from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.values import Json

_ROOT: Final = Path(__file__).parents[3]
_EXIT_PRIORITY: Final = 10


class CallProcess:
    """Calls what stands behind `environment`, `module:factory`, for questions that have nothing to do with each other.

    The process is started with the first call, and ends with this one. One that a call has ended is followed by
    another.
    """

    def __init__(self, environment: str, limits: Limits) -> None:
        self._lock = Lock()
        self._running: _Running | None = None
        self._behind = EnvironmentSpec(_ROOT, environment)
        self._limits = limits

    def call(self, name: str, arguments: Mapping[str, Json]) -> CallResult:
        """What the call gives, or an error that it, or the process, came to. Raises WorldFailed without a process."""
        with self._lock:
            if self._running is None:
                self._running = _Running(self._behind, self._limits)
                Finalize(self, self._running.end, exitpriority=_EXIT_PRIORITY)
            return self._running.call(name, arguments)


class _Running:
    """The process, and the thread in which it is waited for."""

    def __init__(self, behind: EnvironmentSpec, limits: Limits) -> None:
        self._behind = behind
        self._limits = limits
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name="fcall-bfcl", daemon=True)
        self._thread.start()
        self._worker: ToolProcess | None = None
        self._failed: str | None = None

    def call(self, name: str, arguments: Mapping[str, Json]) -> CallResult:
        return asyncio.run_coroutine_threadsafe(self._answer(name, arguments), self._loop).result()

    def end(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        if current_thread() is not self._thread:  # where garbage may be collected, too
            self._thread.join()

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def _answer(self, name: str, arguments: Mapping[str, Json]) -> CallResult:
        if self._worker is None:
            self._worker = await self._started()
        answer = await self._worker.call(name, arguments)
        if self._worker.has_ended:
            await self._close()
        return answer

    async def _started(self) -> ToolProcess:
        """A process; where there was none to be had once, nobody waits for a second try."""
        if self._failed is None:
            try:
                return await ToolProcess.start(self._behind, self._limits)
            except EnvironmentFailed as error:
                self._failed = str(error)
        raise EnvironmentFailed(self._failed)

    async def _end(self) -> None:
        try:
            await self._close()
        finally:
            self._loop.stop()

    async def _close(self) -> None:
        if self._worker is not None:
            worker, self._worker = self._worker, None
            await worker.close()
