"""A model in memory that goes on with prompts side by side, by transformers."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from pytest_fcall.backends.local.batching import Batcher
from pytest_fcall.backends.local.generation import Generated, Prompt
from pytest_fcall.backends.local.grammar import Grammars
from pytest_fcall.backends.local.layout import side_by_side
from pytest_fcall.backends.local.libraries import library
from pytest_fcall.backends.local.loading import Loaded
from pytest_fcall.backends.local.pieces import Pieces
from pytest_fcall.backends.local.prefix import beginnings, can_share, read
from pytest_fcall.backends.local.rows import Row, Rows
from pytest_fcall.backends.local.sampling import Sampling, read_sampling
from pytest_fcall.core import Json


class TransformersEngine:
    """Puts prompts side by side, the shorter ones padded on the left."""

    def __init__(self, loaded: Loaded, grammars: Grammars, about: Mapping[str, Json]) -> None:
        self._torch = library("torch")
        self._transformers = library("transformers")
        self._model = loaded.model
        self._rows = Rows(loaded)
        self._grammars = grammars
        self._pieces = Pieces(self._free)
        self._shares = can_share(loaded.model)
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

    def _generated(self, rows: Sequence[Row], sampling: Sampling) -> Sequence[Generated]:
        start = time.perf_counter()
        written = self._written(rows, sampling)
        seconds = time.perf_counter() - start
        return [
            self._rows.generated(row, line, seconds, self._held(row, sampling))
            for row, line in zip(rows, written, strict=True)
        ]

    def _held(self, row: Row, sampling: Sampling) -> Mapping[str, Json]:
        return {"grammar": self._grammars.name} if sampling.grammar and row.tools else {}

    def _written(self, rows: Sequence[Row], sampling: Sampling) -> list[list[int]]:
        """The tokens that follow each row, and any that were added to fill up."""
        torch, device, tokens = self._torch, self._model.device, [row.tokens for row in rows]
        begun = beginnings(tokens, [row.kind for row in rows]) if self._shares else [0] * len(rows)
        layout = side_by_side(tokens, begun, self._rows.pad)
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
                **({"past_key_values": read(self._model, started)} if any(begun) else {}),
            )
        lines: list[list[int]] = whole[:, layout.width :].tolist()
        return lines

    def _constraints(self, rows: Sequence[Row], sampling: Sampling) -> Iterator[Any]:
        if sampling.grammar:
            yield self._grammars.constraint([row.tools for row in rows])

    def _limits(self, rows: Sequence[Row], width: int) -> Any:
        """Stop a row where the model can read no further, whatever its neighbours have room for."""
        ends = self._torch.tensor([width + row.room for row in rows], device=self._model.device)

        def are_full(ids: Any, *_: Any) -> Any:
            return ids.shape[1] >= ends

        return self._transformers.StoppingCriteriaList([are_full])

    def _free(self) -> None:
        gc.collect()
        if self._torch.cuda.is_available():
            self._torch.cuda.empty_cache()
