"""`engine=static`: batches of padded prompts, by transformers. Common prefixes are read once; a batch too large for
memory is halved.
"""

from __future__ import annotations

import gc
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeVar

from pytest_fcall.backends.local.batcher import Batcher
from pytest_fcall.backends.local.generation import Generated, Prompt
from pytest_fcall.backends.local.grammar import Grammars
from pytest_fcall.backends.local.libraries import import_library
from pytest_fcall.backends.local.loaded_model import LoadedModel, TokenRow, TokenRows
from pytest_fcall.backends.local.memory import is_out_of_memory
from pytest_fcall.backends.local.settings import Sampling, read_sampling
from pytest_fcall.core import CaseRefused, Json


@dataclass(frozen=True, slots=True)
class PaddedRows:
    """Rows of one width. What is written follows them all at the same place."""

    ids: list[list[int]]
    mask: list[list[int]]
    """1 where a token is the prompt's own."""
    width: int


def pad_rows(rows: Sequence[Sequence[int]], begun: Sequence[int], pad: int) -> PaddedRows:
    """Put `rows` side by side, each filled up on the left, and again after the tokens that it has begun with."""
    before = max(begun)
    after = max(len(row) - count for row, count in zip(rows, begun, strict=True))

    def filled(values: Sequence[int], count: int, filler: int) -> list[int]:
        left, between = before - count, after - (len(values) - count)
        return [*[filler] * left, *values[:count], *[filler] * between, *values[count:]]

    counted = list(zip(rows, begun, strict=True))
    return PaddedRows(
        [filled(row, count, pad) for row, count in counted],
        [filled([1] * len(row), count, 0) for row, count in counted],
        before + after,
    )


_WORTHWHILE = 2 / 3
"""Reading apart must leave no more than this part of the work, since one after the other is slower by itself."""


def shared_prefixes(rows: Sequence[Sequence[int]], kinds: Sequence[Hashable]) -> list[int]:
    """How many tokens of each row are to be read before all rows go on together. All are 0 where that saves little.

    Rows of one kind are expected to begin alike. Something is left of each row to go on from.
    """
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for number, kind in enumerate(kinds):
        groups[kind].append(number)
    shared = [0] * len(rows)
    for numbers in groups.values():
        for number in numbers:
            shared[number] = _common_length([rows[each] for each in numbers])
    apart = sum(shared[numbers[0]] for numbers in groups.values())
    together = len(rows) * max(len(row) - begun for row, begun in zip(rows, shared, strict=True))
    worthwhile = apart + together <= _WORTHWHILE * len(rows) * max(map(len, rows))
    return shared if worthwhile and all(shared) else [0] * len(rows)


def _common_length(rows: Sequence[Sequence[int]]) -> int:
    same = takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False))
    return min(sum(1 for _ in same), *(len(row) - 1 for row in rows))


def can_share_prefixes(model: Any) -> bool:
    """Whether what a model remembers of a beginning can be handed to several rows, and padding may follow it.

    Not where it remembers anything but all tokens by themselves.
    """
    config = model.config.get_text_config()
    kinds = getattr(config, "layer_types", None) or ["full_attention"]
    windowed = getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True)
    return not windowed and set(kinds) == {"full_attention"} and not getattr(model, "_is_stateful", False)


def read_prefixes(model: Any, begun: Sequence[Sequence[int]]) -> Any:
    """What the model remembers of these beginnings, one a row, the shorter ones padded on the left."""
    torch, transformers = import_library("torch"), import_library("transformers")
    width = max(map(len, begun))
    keys = [tuple(tokens) for tokens in begun]
    caches = {key: _read_prefix(model, key) for key in dict.fromkeys(keys)}

    def padded(values: Any) -> Any:
        return torch.nn.functional.pad(values, (0, 0, width - values.shape[-2], 0))

    whole = transformers.DynamicCache(config=model.config)
    for layer in range(len(caches[keys[0]].layers)):
        rows = [caches[key].layers[layer] for key in keys]
        whole.update(
            torch.cat([padded(row.keys) for row in rows]), torch.cat([padded(row.values) for row in rows]), layer
        )
    return whole


def _read_prefix(model: Any, tokens: Sequence[int]) -> Any:
    torch, transformers = import_library("torch"), import_library("transformers")
    cache = transformers.DynamicCache(config=model.config)
    ids = torch.tensor([list(tokens)], device=model.device)
    model(input_ids=ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
    return cache


_Item = TypeVar("_Item")
_Done = TypeVar("_Done")


class BatchSplitter:
    """Remembers how many items there was room for. `free` gives back what a failure has left."""

    def __init__(self, free: Callable[[], None]) -> None:
        self.most: int | None = None
        """The most that are tried at once, since there was no memory for more."""
        self._free = free

    def work_off(self, items: Sequence[_Item], work: Callable[[Sequence[_Item]], Sequence[_Done]]) -> list[_Done]:
        """Do all at once; where memory is short, half as many from then on.

        Raises CaseRefused where there is no room for one alone.
        """
        done: list[_Done] = []
        while len(done) < len(items):
            piece = items[len(done) : len(done) + (self.most or len(items))]
            try:
                done += work(piece)
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                _refuse_single(piece)
            else:
                continue
            # Not before the error is forgotten, which holds on to all that was in memory.
            self.most = len(piece) // 2
            self._free()
        return done


def _refuse_single(piece: Sequence[object]) -> None:
    if len(piece) == 1:
        raise CaseRefused(
            "out of memory, though it was asked alone; fewer max_new_tokens, dtype=bfloat16 or device_map=auto help"
        ) from None


class TransformersEngine:
    """Puts prompts side by side, the shorter ones padded on the left."""

    def __init__(self, loaded: LoadedModel, grammars: Grammars, about: Mapping[str, Json]) -> None:
        self._torch = import_library("torch")
        self._transformers = import_library("transformers")
        self._model = loaded.model
        self._rows = TokenRows(loaded)
        self._grammars = grammars
        self._pieces = BatchSplitter(self._free)
        self._shares = can_share_prefixes(loaded.model)
        self._about = about
        # What a model's own folder says of drawing would be taken where we say nothing.
        self._model.generation_config = self._transformers.GenerationConfig()

    @property
    def about(self) -> Mapping[str, Json]:
        """Versions, dtype and device, and what memory had no room for."""
        if self._pieces.most is None:
            return self._about
        return {**self._about, "memory": f"had room for no more than {self._pieces.most} at once"}

    def feeder(self, size: int, thread: Executor) -> Batcher:
        """Gathers prompts into batches of up to `size`."""
        return Batcher(self, size, thread)

    def generate(self, prompts: Sequence[Prompt], settings: Mapping[str, Json]) -> Sequence[Generated]:
        """Go on with each. A batch that memory has no room for is halved."""
        sampling = read_sampling(settings)
        rows = [self._rows.row(prompt, sampling.max_tokens) for prompt in prompts]
        return self._pieces.work_off(rows, lambda piece: self._generated(piece, sampling))

    def _generated(self, rows: Sequence[TokenRow], sampling: Sampling) -> Sequence[Generated]:
        start = time.perf_counter()
        written = self._written(rows, sampling)
        seconds = time.perf_counter() - start
        return [
            self._rows.generated(row, line, seconds, self._held(row, sampling))
            for row, line in zip(rows, written, strict=True)
        ]

    def _held(self, row: TokenRow, sampling: Sampling) -> Mapping[str, Json]:
        return {"grammar": self._grammars.name} if sampling.grammar and row.tools else {}

    def _written(self, rows: Sequence[TokenRow], sampling: Sampling) -> list[list[int]]:
        """The tokens that follow each row, and any that were added to fill up."""
        torch, device, tokens = self._torch, self._model.device, [row.tokens for row in rows]
        begun = shared_prefixes(tokens, [row.kind for row in rows]) if self._shares else [0] * len(rows)
        layout = pad_rows(tokens, begun, self._rows.pad)
        if sampling.drawing:
            torch.manual_seed(sampling.seed) if sampling.seed is not None else torch.seed()
        with torch.inference_mode():
            started = [row[:count] for row, count in zip(tokens, begun, strict=True)]
            whole = self._model.generate(
                input_ids=torch.tensor(layout.ids, device=device),
                attention_mask=torch.tensor(layout.mask, device=device),
                generation_config=self._transformers.GenerationConfig(
                    **sampling.options(), eos_token_id=sorted(self._rows.ends), pad_token_id=self._rows.pad
                ),
                logits_processor=list(self._constraints(rows, sampling)),
                stopping_criteria=self._limits(rows, layout.width),
                **({"past_key_values": read_prefixes(self._model, started)} if any(begun) else {}),
            )
        lines: list[list[int]] = whole[:, layout.width :].tolist()
        return lines

    def _constraints(self, rows: Sequence[TokenRow], sampling: Sampling) -> Iterator[Any]:
        if sampling.grammar:
            yield self._grammars.constraint([row.tools for row in rows])

    def _limits(self, rows: Sequence[TokenRow], width: int) -> Any:
        """Stop a row where the model can read no further, whatever its neighbours have room for."""
        ends = self._torch.tensor([width + row.room for row in rows], device=self._model.device)

        def are_full(ids: Any, *_: Any) -> Any:
            return ids.shape[1] >= ends

        return self._transformers.StoppingCriteriaList([are_full])

    def _free(self) -> None:
        gc.collect()
        if self._torch.cuda.is_available():
            self._torch.cuda.empty_cache()
