"""A process in which conversations are checked, kept for as long as there are more of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from threading import Lock, Thread, current_thread
from typing import Final

from pytest_fcall.conversation.execution.limits import Behind, Limits
from pytest_fcall.conversation.execution.worker import Worker, WorldFailed
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.values import Json

CHECKER: Final = "pytest_fcall.suites.bfcl.multi_turn.checking:make"
_LIMITS: Final = Limits(seconds=30.0, result=16 << 20)
_ROOT: Final = Path(__file__).parents[4]
_BEFORE_OTHERS: Final = 10


@dataclass(frozen=True, slots=True)
class Question:
    """A conversation, and what would have been right: calls as source, by turns, those of the model by replies, too."""

    classes: Sequence[str]
    config: Mapping[str, Json]
    long_context: bool
    turns: Sequence[Sequence[Sequence[str]]]
    truth: Sequence[Sequence[str]]

    def as_arguments(self) -> dict[str, Json]:
        """As the checker takes it."""
        return {
            "classes": self.classes,
            "config": self.config,
            "long_context": self.long_context,
            "turns": self.turns,
            "truth": self.truth,
        }


class Bench:
    """Has questions answered by the checker. The process is started with the first, and ends with this one.

    Every question gets instances of its own, so that one process serves for all; one that a question has ended is
    followed by another.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: _Running | None = None

    def ask(self, question: Question) -> Executed:
        """What the checker says, or an error that it, or the process, came to. Raises WorldFailed without classes."""
        with self._lock:
            if self._running is None:
                self._running = _Running()
                Finalize(self, self._running.end, exitpriority=_BEFORE_OTHERS)
            return self._running.ask(question)


class _Running:
    """The process, and the thread in which it is waited for."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name="fcall-bfcl-bench", daemon=True)
        self._thread.start()
        self._worker: Worker | None = None
        self._failed: str | None = None

    def ask(self, question: Question) -> Executed:
        return asyncio.run_coroutine_threadsafe(self._answer(question), self._loop).result()

    def end(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        if current_thread() is not self._thread:  # where garbage may be collected, too
            self._thread.join()

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def _answer(self, question: Question) -> Executed:
        if self._worker is None:
            self._worker = await self._started()
        answer = await self._worker.call("check", question.as_arguments())
        if self._worker.is_over:
            await self._close()
        return answer

    async def _started(self) -> Worker:
        """A process; where there was none to be had once, nobody waits for a second try."""
        if self._failed is None:
            try:
                return await Worker.start(Behind(_ROOT, CHECKER), _LIMITS)
            except WorldFailed as error:
                self._failed = str(error)
        raise WorldFailed(self._failed)

    async def _end(self) -> None:
        try:
            await self._close()
        finally:
            self._loop.stop()

    async def _close(self) -> None:
        if self._worker is not None:
            worker, self._worker = self._worker, None
            await worker.close()
