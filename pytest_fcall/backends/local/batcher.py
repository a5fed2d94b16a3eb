"""Collects prompts that arrive one by one into batches."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

from pytest_fcall.backends.local.answerer import draws_tokens
from pytest_fcall.backends.local.generation import Generated, Prompt, Tally
from pytest_fcall.core import Json, ModelUnavailable

_LULL, _LONGEST = 0.02, 0.5
"""Seconds without a new prompt after which a batch that is not full is begun all the same."""
_WORTH = 0.03
"""The part of a batch's time that may be waited for more to go with it: half a batch takes as long as a whole one."""


class BatchEngine(Protocol):
    """Goes on with many prompts side by side."""

    def generate(self, prompts: Sequence[Prompt], settings: Mapping[str, Json]) -> Sequence[Generated]:
        """Go on with each prompt, all in one batch and by the same settings.

        Raises CaseRefused where a prompt can never be answered, ModelUnavailable where none can.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A prompt, and who waits for what becomes of it."""

    prompt: Prompt
    settings: str
    """As JSON, where 1 is not true."""
    future: asyncio.Future[Generated]

    @property
    def tools(self) -> list[str]:
        """By their names, which will do for telling catalogues apart."""
        return [tool.name for tool in self.prompt.tools]


class Batcher:
    """Feeds one engine, in the thread given. Lives in the event loop.

    No prompt waits for ever: each batch is made around the one that has waited longest. `tally` counts them.
    """

    def __init__(self, engine: BatchEngine, size: int, thread: Executor) -> None:
        self.tally = Tally()
        self._engine = engine
        self._size = size
        self._thread = thread
        self._waiting: list[Job] = []
        self._work: asyncio.Task[None] | None = None
        self._lull = _LULL

    async def generate(self, prompt: Prompt) -> Generated:
        """Generate, along with what else is to be. Raises what the engine raises for this prompt alone."""
        loop = asyncio.get_running_loop()
        job = Job(prompt, json.dumps(dict(prompt.settings), sort_keys=True), loop.create_future())
        self._waiting.append(job)
        if self._work is None or self._work.done():
            self._work = loop.create_task(self._work_off())
        return await job.future

    async def _work_off(self) -> None:
        while self._waiting:
            await self._fill_up()
            self._waiting = [job for job in self._waiting if not job.future.done()]
            batch = next_batch(self._waiting, self._size)
            self._waiting = [job for job in self._waiting if job not in batch]
            if batch:
                await self._generate(batch)

    async def _fill_up(self) -> None:
        """Wait while prompts keep coming and there is room for them."""
        seen = 0
        while seen < len(self._waiting) < self._size:
            seen = len(self._waiting)
            await asyncio.sleep(self._lull)

    async def _generate(self, batch: Sequence[Job]) -> None:
        """Settle every job of a batch. Where one spoils it for all, each is tried alone."""
        prompts = [job.prompt for job in batch]
        run = asyncio.get_running_loop().run_in_executor
        start = time.perf_counter()
        try:
            generated = await run(self._thread, self._engine.generate, prompts, prompts[0].settings)
            pairs = list(zip(batch, generated, strict=True))
        except Exception as error:
            if len(batch) == 1 or isinstance(error, ModelUnavailable):
                _fail(batch, error)
                return
            for job in batch:
                await self._generate([job])
        else:
            seconds = time.perf_counter() - start
            self._lull = min(max(_LULL, _WORTH * seconds), _LONGEST)
            self.tally.add(generated, seconds, len(generated) * seconds)
            for job, each in pairs:
                if not job.future.done():
                    job.future.set_result(each)


def _fail(batch: Sequence[Job], error: Exception) -> None:
    for job in batch:
        if not job.future.done():
            job.future.set_exception(error)


def next_batch(waiting: Sequence[Job], size: int) -> Sequence[Job]:
    """Return the first job, with those that can go along: such as have its tools, which are then read once for all.

    Of those, or where there is room for more, the nearest to it in length: padding is work in vain.
    Where the lot decides, a prompt goes alone, since what is drawn for it would depend on its neighbours.
    """
    if not waiting or draws_tokens(waiting[0].prompt.settings):
        return waiting[:1]
    first = waiting[0]
    alike = [job for job in waiting if job.settings == first.settings]

    def distance(job: Job) -> tuple[bool, int]:
        return job.tools != first.tools, abs(len(job.prompt.text) - len(first.prompt.text))

    return sorted(alike, key=distance)[:size]
