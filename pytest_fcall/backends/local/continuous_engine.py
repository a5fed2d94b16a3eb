"""`engine=continuous`: transformers' own batching, where a prompt joins the batch as soon as another one is done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import Executor
from itertools import count
from typing import Any

from pytest_fcall.backends.local.answerer import GeneratedText, ModelPrompt, WorkTally
from pytest_fcall.backends.local.libraries import import_library, one_line
from pytest_fcall.backends.local.loaded_model import LoadedModel, TokenRow, TokenRows
from pytest_fcall.backends.local.memory import is_out_of_memory
from pytest_fcall.backends.local.settings import read_sampling, unsupported_by_continuous
from pytest_fcall.core.backend import CaseRefused, ModelUnavailable
from pytest_fcall.core.values import Json

_PAGE_TOKENS = 32
_PLACE_TOKENS = 2048
"""The memory of each place on average: one prompt may use what others leave."""
_READ_AT_ONCE = 2048
_CHECK_SECONDS = 5.0
"""The time between checks whether transformers still works: its thread may end without notice."""
_SHORT_CHECK_SECONDS = 0.05
"""The same if it accepts no more prompts, and only the reason is missing."""
_ADVICE = "remove engine=continuous"


class ContinuousEngine:
    """Lets transformers batch continuously. It takes the most likely token each time; other sampling is refused."""

    def __init__(self, loaded: LoadedModel, about: Mapping[str, Json]) -> None:
        self._model = loaded.model
        self._rows = TokenRows(loaded)
        self._about: dict[str, Json] = {**about, "batching": "continuous"}
        self._use_flash_attention()

    @property
    def about(self) -> Mapping[str, Json]:
        """Versions, dtype and device, and a smaller number of places where memory is short."""
        return self._about

    def feeder(self, size: int, _: Executor, /) -> ContinuousFeeder:
        """Make a feeder for `size` prompts at once, or as many as fit into memory. Raises ModelUnavailable."""
        places = size
        while True:
            try:
                manager = self._manager(places)
            except Exception as error:  # each kind of device raises errors of its own
                if not is_out_of_memory(error) or places == 1:
                    raise ModelUnavailable(
                        f"the model cannot be batched continuously: {one_line(error)}; {_ADVICE}"
                    ) from error
            else:
                break
            places //= 2
        if places < size:
            self._about["memory"] = f"memory for at most {places} prompts at once"
        return ContinuousFeeder(manager, self._rows, places * self._pages * _PAGE_TOKENS)

    @property
    def _pages(self) -> int:
        """The pages of each place."""
        return -(-min(self._rows.max_tokens or _PLACE_TOKENS, _PLACE_TOKENS) // _PAGE_TOKENS)

    def _manager(self, places: int) -> Any:
        """Start transformers' manager, which allocates all its memory now."""
        transformers = import_library("transformers")
        manager = self._model.init_continuous_batching(
            transformers.GenerationConfig(do_sample=False, eos_token_id=sorted(self._rows.end_tokens)),
            transformers.ContinuousBatchingConfig(
                page_size=_PAGE_TOKENS,
                num_blocks=places * self._pages,
                max_batch_tokens=_READ_AT_ONCE,
                max_requests_per_batch=places,
                # The automatic choice would download the implementation.
                auto_switch_to_flash=False,
            ),
        )
        manager.warmup()
        manager.start()
        return manager

    def _use_flash_attention(self) -> None:
        """Use flash attention where it is installed: otherwise a batch needs a mask as large as all its prompts."""
        utils = import_library("transformers.utils")
        halved = str(self._model.dtype) in ("torch.bfloat16", "torch.float16")
        if self._model.device.type == "cuda" and halved and utils.is_flash_attn_2_available():
            self._model.set_attn_implementation("flash_attention_2")
            self._about["attention"] = "flash_attention_2"


class ContinuousFeeder:
    """Passes prompts on as they arrive. `manager` has memory for `capacity` tokens; `tally` counts the work."""

    def __init__(self, manager: Any, rows: TokenRows, capacity: int) -> None:
        self.tally = WorkTally()
        self._manager = manager
        self._rows = rows
        self._capacity = capacity
        self._numbers = count()
        self._open = 0
        self._counted_until = 0.0
        """The end of the busy time in `tally`."""

    async def generate(self, prompt: ModelPrompt) -> GeneratedText:
        """Continue a prompt. Raises CaseRefused if that is impossible, ModelUnavailable if batching has ended."""
        if name := unsupported_by_continuous(prompt.settings):
            raise CaseRefused(f"continuous batching does not support `{name}`; {_ADVICE}")
        row = self._rows.row(prompt, read_sampling(prompt.settings).max_tokens)
        if len(row.tokens) + row.max_new_tokens > self._capacity:
            raise CaseRefused(
                f"the prompt and its answer may take {len(row.tokens) + row.max_new_tokens:,} tokens, but there is "
                f"memory for {self._capacity:,}; a larger `batch` provides more, fewer max_new_tokens need less"
            )
        if not self._open:
            self._counted_until = time.perf_counter()
        self._open += 1
        try:
            output = await self._output(row)
        finally:
            self._open -= 1
        started, ended = output.lifespan
        generated = self._rows.generated(row, output.generated_tokens, ended - started)
        now = time.perf_counter()
        self.tally.add([generated], now - self._counted_until, ended - started)
        self._counted_until = now
        return generated

    def stop(self) -> None:
        """End all requests, and free the memory."""
        self._manager.stop(hard_stop=True)

    async def _output(self, row: TokenRow) -> Any:
        """The output of transformers for a row."""
        number = str(next(self._numbers))
        answer = asyncio.get_running_loop().create_future()

        def settle(output: Any) -> None:
            if output.is_finished() and not answer.done():
                answer.set_result(output)

        self._manager.register_result_handler(number, settle)
        accepted = self._manager.add_request(list(row.tokens), request_id=number, max_new_tokens=row.max_new_tokens)
        try:
            while not answer.done():
                runs = self._manager.is_running()
                await asyncio.wait([answer], timeout=_CHECK_SECONDS if accepted else _SHORT_CHECK_SECONDS)
                if not runs and not answer.done():
                    raise _batching_ended(self._manager.background_thread_status.fatal_error)
        except asyncio.CancelledError:
            self._manager.cancel_request(number)
            raise
        output = answer.result()
        if output.error:
            raise _batching_ended(output.error)
        return output


def _batching_ended(reason: object) -> ModelUnavailable:
    """The error of all prompts after one has failed."""
    return ModelUnavailable(
        f"continuous batching has ended: {one_line(reason)}; a smaller `batch` needs less memory, or {_ADVICE}"
    )
