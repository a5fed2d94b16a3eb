"""`engine=continuous`: a prompt joins the running batch as soon as another one is done, by transformers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import Executor
from itertools import count
from typing import Any

from pytest_fcall.backends.local.generation import Generated, Prompt, Tally
from pytest_fcall.backends.local.libraries import import_library
from pytest_fcall.backends.local.loaded_model import LoadedModel, TokenRow, TokenRows
from pytest_fcall.backends.local.memory import is_out_of_memory
from pytest_fcall.backends.local.settings import read_sampling, unsupported_by_continuous
from pytest_fcall.core import CaseRefused, Json, ModelUnavailable

_PAGE = 32
_LENGTH = 2048
"""Tokens that there is memory for in each place, on average: one prompt may take what others leave."""
_READ_AT_ONCE = 2048
_LOOK = 5.0
"""Seconds after which it is looked whether transformers still works: a thread of its own may end unseen."""
_SOON = 0.05
"""The same where it takes nothing more, and only has to say why."""
_INSTEAD = "leave engine=continuous out"


class ContinuousEngine:
    """Has transformers batch continuously. The likeliest token is taken each time; anything else is refused."""

    def __init__(self, loaded: LoadedModel, about: Mapping[str, Json]) -> None:
        self._model = loaded.model
        self._rows = TokenRows(loaded)
        self._about: dict[str, Json] = {**about, "batching": "continuous"}
        self._use_flash_attention()

    @property
    def about(self) -> Mapping[str, Json]:
        """Versions, dtype and device, and what memory had no room for."""
        return self._about

    def feeder(self, size: int, _: Executor, /) -> ContinuousFeeder:
        """Take up to `size` prompts at once, or as many as there is memory for. Raises ModelUnavailable."""
        places = size
        while True:
            try:
                manager = self._manager(places)
            except Exception as error:
                if not is_out_of_memory(error) or places == 1:
                    told = " ".join(str(error).split())[:200]
                    raise ModelUnavailable(f"it cannot be batched continuously: {told}; {_INSTEAD}") from error
            else:
                break
            places //= 2
        if places < size:
            self._about["memory"] = f"had room for no more than {places} at once"
        return ContinuousFeeder(manager, self._rows, places * self._pages * _PAGE)

    @property
    def _pages(self) -> int:
        """For each place."""
        return -(-min(self._rows.limit or _LENGTH, _LENGTH) // _PAGE)

    def _manager(self, places: int) -> Any:
        """Transformers' own manager, at work, with all the memory that it will take."""
        transformers = import_library("transformers")
        manager = self._model.init_continuous_batching(
            transformers.GenerationConfig(do_sample=False, eos_token_id=sorted(self._rows.ends)),
            transformers.ContinuousBatchingConfig(
                page_size=_PAGE,
                num_blocks=places * self._pages,
                max_batch_tokens=_READ_AT_ONCE,
                max_requests_per_batch=places,
                # What it looks for by itself, it would download.
                auto_switch_to_flash=False,
            ),
        )
        manager.warmup()
        manager.start()
        return manager

    def _use_flash_attention(self) -> None:
        """Where it is installed: without it, prompts that share a batch are told apart by a mask as large as all."""
        utils = import_library("transformers.utils")
        halved = str(self._model.dtype) in ("torch.bfloat16", "torch.float16")
        if self._model.device.type == "cuda" and halved and utils.is_flash_attn_2_available():
            self._model.set_attn_implementation("flash_attention_2")
            self._about["attention"] = "flash_attention_2"


class ContinuousFeeder:
    """Hands prompts over as they come. `manager` has memory for `capacity` tokens; `tally` counts what it has done."""

    def __init__(self, manager: Any, rows: TokenRows, capacity: int) -> None:
        self.tally = Tally()
        self._manager = manager
        self._rows = rows
        self._capacity = capacity
        self._numbers = count()
        self._open = 0
        self._counted = 0.0
        """Up to when the time was counted."""

    async def generate(self, prompt: Prompt) -> Generated:
        """Go on with a prompt. Raises CaseRefused for what it cannot be, ModelUnavailable when it is all over."""
        if name := unsupported_by_continuous(prompt.settings):
            raise CaseRefused(f"continuous batching knows of no `{name}`; {_INSTEAD}")
        row = self._rows.row(prompt, read_sampling(prompt.settings).max_tokens)
        if len(row.tokens) + row.room > self._capacity:
            raise CaseRefused(
                f"the prompt and its answer may take {len(row.tokens) + row.room:,} tokens, and there is memory for "
                f"{self._capacity:,}; a larger `batch` makes more room, fewer max_new_tokens need less"
            )
        if not self._open:
            self._counted = time.perf_counter()
        self._open += 1
        try:
            output = await self._output(row)
        finally:
            self._open -= 1
        started, ended = output.lifespan
        generated = self._rows.generated(row, output.generated_tokens, ended - started)
        now = time.perf_counter()
        self.tally.add([generated], now - self._counted, ended - started)
        self._counted = now
        return generated

    def stop(self) -> None:
        """Answer nobody any more, and give the memory back."""
        self._manager.stop(hard_stop=True)

    async def _output(self, row: TokenRow) -> Any:
        """What transformers makes of a row."""
        number = str(next(self._numbers))
        answer = asyncio.get_running_loop().create_future()

        def settle(output: Any) -> None:
            if output.is_finished() and not answer.done():
                answer.set_result(output)

        self._manager.register_result_handler(number, settle)
        taken = self._manager.add_request(list(row.tokens), request_id=number, max_new_tokens=row.room)
        try:
            while not answer.done():
                runs = self._manager.is_running()
                await asyncio.wait([answer], timeout=_LOOK if taken else _SOON)
                if not runs and not answer.done():
                    raise _batching_ended(self._manager.background_thread_status.fatal_error)
        except asyncio.CancelledError:
            self._manager.cancel_request(number)
            raise
        output = answer.result()
        if output.error:
            raise _batching_ended(output.error)
        return output


def _batching_ended(why: object) -> ModelUnavailable:
    """What fails one prompt fails them all."""
    told = " ".join(str(why).split())[:200]
    return ModelUnavailable(
        f"continuous batching has ended: {told}; a smaller `batch` needs less memory, or {_INSTEAD}"
    )
