"""`engine=static`: prompts that arrive one by one become padded batches, which transformers generates.

The model reads common prefixes once. A batch that is too large for memory is halved.
"""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Protocol, TypeVar

from pytest_fcall.backends.local.answerer import GeneratedText, ModelPrompt, WorkTally
from pytest_fcall.backends.local.grammar import Grammars
from pytest_fcall.backends.local.libraries import import_library
from pytest_fcall.backends.local.loaded_model import LoadedModel, TokenRow, TokenRows
from pytest_fcall.backends.local.memory import is_out_of_memory
from pytest_fcall.backends.local.settings import SamplingSettings, draws_tokens, read_sampling
from pytest_fcall.core.backend import CaseRefused, ModelUnavailable
from pytest_fcall.core.values import Json


class StaticEngine:
    """Generates for many prompts side by side, the shorter ones padded on the left."""

    def __init__(self, loaded: LoadedModel, grammars: Grammars, about: Mapping[str, Json]) -> None:
        self._torch = import_library("torch")
        self._transformers = import_library("transformers")
        self._model = loaded.model
        self._rows = TokenRows(loaded)
        self._grammars = grammars
        self._splitter = BatchSplitter(self._free_memory)
        self._shares_prefixes = can_share_prefixes(loaded.model)
        self._about = about
        # The sampling options in the model's own folder would be defaults for ours.
        self._model.generation_config = self._transformers.GenerationConfig()

    @property
    def about(self) -> Mapping[str, Json]:
        """Versions, dtype and device, and a smaller size of batches where memory is short."""
        if self._splitter.limit is None:
            return self._about
        return {**self._about, "memory": f"memory for at most {self._splitter.limit} prompts at once"}

    def feeder(self, size: int, thread: Executor) -> Batcher:
        """A feeder that collects prompts into batches of up to `size`."""
        return Batcher(self, size, thread)

    def generate(self, prompts: Sequence[ModelPrompt], settings: Mapping[str, Json]) -> Sequence[GeneratedText]:
        """Continue each prompt. A batch that is too large for memory is halved."""
        sampling = read_sampling(settings)
        rows = [self._rows.row(prompt, sampling.max_tokens) for prompt in prompts]
        return self._splitter.run(rows, lambda part: self._generated(part, sampling))

    def _generated(self, rows: Sequence[TokenRow], sampling: SamplingSettings) -> Sequence[GeneratedText]:
        start = time.perf_counter()
        continuations = self._continuations(rows, sampling)
        seconds = time.perf_counter() - start
        return [
            self._rows.generated(row, tokens, seconds, self._facts(row, sampling))
            for row, tokens in zip(rows, continuations, strict=True)
        ]

    def _facts(self, row: TokenRow, sampling: SamplingSettings) -> Mapping[str, Json]:
        return {"grammar": self._grammars.name} if sampling.grammar and row.tools else {}

    def _continuations(self, rows: Sequence[TokenRow], sampling: SamplingSettings) -> list[list[int]]:
        """The tokens that follow each row, with padding at their ends."""
        torch, device, tokens = self._torch, self._model.device, [row.tokens for row in rows]
        prefixes = [0] * len(rows)
        if self._shares_prefixes:
            prefixes = shared_prefixes(tokens, [row.tool_names for row in rows])
        padded = pad_rows(tokens, prefixes, self._rows.pad_token)
        if sampling.draw_options:
            torch.manual_seed(sampling.seed) if sampling.seed is not None else torch.seed()
        with torch.inference_mode():
            cache = {}
            if any(prefixes):
                beginnings = [row[:length] for row, length in zip(tokens, prefixes, strict=True)]
                cache = {"past_key_values": read_prefixes(self._model, beginnings)}
            output = self._model.generate(
                input_ids=torch.tensor(padded.ids, device=device),
                attention_mask=torch.tensor(padded.mask, device=device),
                generation_config=self._transformers.GenerationConfig(
                    **sampling.generation_options(),
                    eos_token_id=sorted(self._rows.end_tokens),
                    pad_token_id=self._rows.pad_token,
                ),
                logits_processor=list(self._constraints(rows, sampling)),
                stopping_criteria=self._length_limits(rows, padded.width),
                **cache,
            )
        continuations: list[list[int]] = output[:, padded.width :].tolist()
        return continuations

    def _constraints(self, rows: Sequence[TokenRow], sampling: SamplingSettings) -> Iterator[Any]:
        if sampling.grammar:
            yield self._grammars.constraint([row.tools for row in rows])

    def _length_limits(self, rows: Sequence[TokenRow], width: int) -> Any:
        """Stop each row where the model can read no further."""
        ends = self._torch.tensor([width + row.max_new_tokens for row in rows], device=self._model.device)

        def are_full(ids: Any, *_: Any) -> Any:
            return ids.shape[1] >= ends

        return self._transformers.StoppingCriteriaList([are_full])

    def _free_memory(self) -> None:
        gc.collect()
        if self._torch.cuda.is_available():
            self._torch.cuda.empty_cache()


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class BatchSplitter:
    """Runs work on batches, and remembers the largest batch that fits into memory.

    `free` releases the memory of a batch that failed.
    """

    def __init__(self, free: Callable[[], None]) -> None:
        self.limit: int | None = None
        """The size of batches after memory ran out."""
        self._free = free

    def run(self, items: Sequence[_Item], work: Callable[[Sequence[_Item]], Sequence[_Result]]) -> list[_Result]:
        """Work on all items at once; where memory runs out, on half as many from then on.

        Raises CaseRefused where memory is too small for a single item.
        """
        results: list[_Result] = []
        while len(results) < len(items):
            part = items[len(results) : len(results) + (self.limit or len(items))]
            try:
                results += work(part)
            except Exception as error:  # each kind of device has an error of its own for that
                if not is_out_of_memory(error):
                    raise
                if len(part) == 1:
                    raise CaseRefused(
                        "out of memory with this prompt alone; fewer max_new_tokens, dtype=bfloat16 or "
                        "device_map=auto help"
                    ) from None
            else:
                continue
            # Outside the handler, since the error keeps all that was in memory alive.
            self.limit = len(part) // 2
            self._free()
        return results


@dataclass(frozen=True, slots=True)
class PaddedRows:
    """Rows of one width, so that the generated tokens of all begin at the same column."""

    ids: list[list[int]]
    mask: list[list[int]]
    """1 for a token of the prompt, 0 for padding."""
    width: int


def pad_rows(rows: Sequence[Sequence[int]], prefixes: Sequence[int], pad: int) -> PaddedRows:
    """Pad `rows` on the left, and again between each row's prefix and its rest. `prefixes` are lengths."""
    pairs = list(zip(rows, prefixes, strict=True))
    before = max(prefixes)
    after = max(len(row) - prefix for row, prefix in pairs)

    def padded(values: Sequence[int], prefix: int, filler: int) -> list[int]:
        left, between = before - prefix, after - (len(values) - prefix)
        return [*[filler] * left, *values[:prefix], *[filler] * between, *values[prefix:]]

    return PaddedRows(
        [padded(row, prefix, pad) for row, prefix in pairs],
        [padded([1] * len(row), prefix, 0) for row, prefix in pairs],
        before + after,
    )


_WORTHWHILE = 2 / 3
"""Prefixes are read one after the other, which is slow, so they must reduce the work to this share."""


def shared_prefixes(rows: Sequence[Sequence[int]], groups: Sequence[Hashable]) -> list[int]:
    """The length of each row's prefix that its group has in common; all are 0 where that saves little.

    `groups` says which rows are expected to have a common prefix. At least one token of each row is not in the prefix.
    """
    numbers_of: dict[Hashable, list[int]] = defaultdict(list)
    for number, group in enumerate(groups):
        numbers_of[group].append(number)
    shared = [0] * len(rows)
    for numbers in numbers_of.values():
        length = _common_length([rows[number] for number in numbers])
        for number in numbers:
            shared[number] = length
    prefix_tokens = sum(shared[numbers[0]] for numbers in numbers_of.values())
    other_tokens = len(rows) * max(len(row) - prefix for row, prefix in zip(rows, shared, strict=True))
    worthwhile = prefix_tokens + other_tokens <= _WORTHWHILE * len(rows) * max(map(len, rows))
    return shared if worthwhile and all(shared) else [0] * len(rows)


def _common_length(rows: Sequence[Sequence[int]]) -> int:
    equal = takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False))
    return min(sum(1 for _ in equal), *(len(row) - 1 for row in rows))


def can_share_prefixes(model: Any) -> bool:
    """Whether a prefix's cache can be used for several rows, with padding after it.

    That needs a cache of every token by itself, in all layers.
    """
    config = model.config.get_text_config()
    layer_types = getattr(config, "layer_types", None) or ["full_attention"]
    windowed = getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True)
    return not windowed and set(layer_types) == {"full_attention"} and not getattr(model, "_is_stateful", False)


def read_prefixes(model: Any, prefixes: Sequence[Sequence[int]]) -> Any:
    """The model's cache of these prefixes, one for each row, the shorter ones padded on the left."""
    torch, transformers = import_library("torch"), import_library("transformers")
    width = max(map(len, prefixes))
    keys = [tuple(tokens) for tokens in prefixes]
    caches = {key: _read_prefix(model, key) for key in dict.fromkeys(keys)}

    def padded(values: Any) -> Any:
        return torch.nn.functional.pad(values, (0, 0, width - values.shape[-2], 0))

    joined = transformers.DynamicCache(config=model.config)
    for layer in range(len(caches[keys[0]].layers)):
        rows = [caches[key].layers[layer] for key in keys]
        joined.update(
            torch.cat([padded(row.keys) for row in rows]), torch.cat([padded(row.values) for row in rows]), layer
        )
    return joined


def _read_prefix(model: Any, tokens: Sequence[int]) -> Any:
    torch, transformers = import_library("torch"), import_library("transformers")
    cache = transformers.DynamicCache(config=model.config)
    ids = torch.tensor([list(tokens)], device=model.device)
    model(input_ids=ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
    return cache


_MIN_QUIET_SECONDS, _MAX_QUIET_SECONDS = 0.02, 0.5
"""An incomplete batch starts after this time without a new prompt."""
_QUIET_SHARE = 0.03
"""The quiet time in relation to a batch's time: half a batch takes as long as a whole one, so waiting is worth it."""


class BatchGenerator(Protocol):
    """Continues many prompts side by side."""

    def generate(self, prompts: Sequence[ModelPrompt], settings: Mapping[str, Json]) -> Sequence[GeneratedText]:
        """Continue each prompt, all in one batch and with the same settings.

        Raises CaseRefused if a prompt can never be continued, ModelUnavailable if none can.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """A prompt, and the future of its result."""

    prompt: ModelPrompt
    settings: str
    """As JSON, where 1 is not true."""
    tool_names: Sequence[str]
    """Enough to distinguish catalogues."""
    future: asyncio.Future[GeneratedText]


class Batcher:
    """Feeds one engine, in the given thread. Lives in the event loop.

    Each batch is made around the prompt that has waited longest, so no prompt waits for ever. `tally` counts them.
    """

    def __init__(self, engine: BatchGenerator, size: int, thread: Executor) -> None:
        self.tally = WorkTally()
        self._engine = engine
        self._size = size
        self._thread = thread
        self._waiting: list[_Job] = []
        self._task: asyncio.Task[None] | None = None
        self._quiet_seconds = _MIN_QUIET_SECONDS

    async def generate(self, prompt: ModelPrompt) -> GeneratedText:
        """Continue a prompt, together with others. Raises what the engine raises for this prompt alone."""
        loop = asyncio.get_running_loop()
        settings = json.dumps(dict(prompt.settings), sort_keys=True)
        job = _Job(prompt, settings, [tool.name for tool in prompt.tools], loop.create_future())
        self._waiting.append(job)
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._run_batches())
        return await job.future

    async def _run_batches(self) -> None:
        while self._waiting:
            await self._wait_for_more()
            self._waiting = [job for job in self._waiting if not job.future.done()]
            batch = _next_batch(self._waiting, self._size)
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

    async def _generate(self, batch: Sequence[_Job]) -> None:
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


def _next_batch(waiting: Sequence[_Job], size: int) -> Sequence[_Job]:
    """The first job, with jobs of the same settings: first those with its tools, which the engine then reads once.

    Among them, those nearest to it in length are chosen, which need the least padding. A prompt whose tokens are drawn
    at random goes alone, since its neighbours would influence the draws.
    """
    if not waiting or draws_tokens(waiting[0].prompt.settings):
        return waiting[:1]
    first = waiting[0]
    alike = [job for job in waiting if job.settings == first.settings]

    def distance(job: _Job) -> tuple[bool, int]:
        return job.tool_names != first.tool_names, abs(len(job.prompt.text) - len(first.prompt.text))

    return sorted(alike, key=distance)[:size]
