"""Batches of prompts that arrive one by one."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

from pytest_fcall.backends.local.generation import Generated, Prompt, Tally
from pytest_fcall.backends.local.settings import draws_tokens
from pytest_fcall.core import Json, ModelUnavailable

_MIN_QUIET_SECONDS, _MAX_QUIET_SECONDS = 0.02, 0.5
"""An incomplete batch starts after this time without a new prompt."""
_QUIET_SHARE = 0.03
"""The quiet time in relation to a batch's time: half a batch takes as long as a whole one, so waiting is worth it."""


class BatchEngine(Protocol):
    """Continues many prompts side by side."""

    def generate(self, prompts: Sequence[Prompt], settings: Mapping[str, Json]) -> Sequence[Generated]:
        """Continue each prompt, all in one batch and with the same settings.

        Raises CaseRefused if a prompt can never be continued, ModelUnavailable if none can.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A prompt, and the future of its result."""

    prompt: Prompt
    settings: str
    """As JSON, where 1 is not true."""
    tool_names: Sequence[str]
    """Enough to distinguish catalogues."""
    future: asyncio.Future[Generated]


class Batcher:
    """Feeds one engine, in the given thread. Lives in the event loop.

    Each batch is made around the prompt that has waited longest, so no prompt waits for ever. `tally` counts them.
    """

    def __init__(self, engine: BatchEngine, size: int, thread: Executor) -> None:
        self.tally = Tally()
        self._engine = engine
        self._size = size
        self._thread = thread
        self._waiting: list[Job] = []
        self._task: asyncio.Task[None] | None = None
        self._quiet_seconds = _MIN_QUIET_SECONDS

    async def generate(self, prompt: Prompt) -> Generated:
        """Continue a prompt, together with others. Raises what the engine raises for this prompt alone."""
        loop = asyncio.get_running_loop()
        settings = json.dumps(dict(prompt.settings), sort_keys=True)
        job = Job(prompt, settings, [tool.name for tool in prompt.tools], loop.create_future())
        self._waiting.append(job)
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._run_batches())
        return await job.future

    async def _run_batches(self) -> None:
        while self._waiting:
            await self._wait_for_more()
            self._waiting = [job for job in self._waiting if not job.future.done()]
            batch = next_batch(self._waiting, self._size)
            chosen = set(batch)
            self._waiting = [job for job in self._waiting if job not in chosen]
            if batch:
                await self._generate(batch)

    async def _wait_for_more(self) -> None:
        """Wait while prompts keep arriving and the batch is not full."""
        seen = 0
        while seen < len(self._waiting) < self._size:
            seen = len(self._waiting)
            await asyncio.sleep(self._quiet_seconds)

    async def _generate(self, batch: Sequence[Job]) -> None:
        """Settle every job of a batch. If the batch fails because of one prompt, each is tried alone."""
        prompts = [job.prompt for job in batch]
        run = asyncio.get_running_loop().run_in_executor
        start = time.perf_counter()
        try:
            generated = await run(self._thread, self._engine.generate, prompts, prompts[0].settings)
            pairs = list(zip(batch, generated, strict=True))
        except Exception as error:  # the caller that waits for one of the jobs raises it again
            if len(batch) == 1 or isinstance(error, ModelUnavailable):
                for job in batch:
                    if not job.future.done():
                        job.future.set_exception(error)
                return
            for job in batch:
                await self._generate([job])
        else:
            seconds = time.perf_counter() - start
            self._quiet_seconds = min(max(_MIN_QUIET_SECONDS, _QUIET_SHARE * seconds), _MAX_QUIET_SECONDS)
            self.tally.add(generated, seconds, len(generated) * seconds)
            for job, each in pairs:
                if not job.future.done():
                    job.future.set_result(each)


def next_batch(waiting: Sequence[Job], size: int) -> Sequence[Job]:
    """The first job, with jobs of the same settings: first those with its tools, which the engine then reads once.

    Among them, those nearest to it in length are chosen, which need the least padding. A prompt whose tokens are drawn
    at random goes alone, since its neighbours would influence the draws.
    """
    if not waiting or draws_tokens(waiting[0].prompt.settings):
        return waiting[:1]
    first = waiting[0]
    alike = [job for job in waiting if job.settings == first.settings]

    def distance(job: Job) -> tuple[bool, int]:
        return job.tool_names != first.tool_names, abs(len(job.prompt.text) - len(first.prompt.text))

    return sorted(alike, key=distance)[:size]
