"""What prompts have in common at their beginning, such as their tools: read once for all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import takewhile
from typing import Any

from pytest_fcall.backends.local.libraries import library

_WORTHWHILE = 2 / 3
"""Reading apart must leave no more than this part of the work, since one after the other is slower by itself."""


def beginnings(rows: Sequence[Sequence[int]], kinds: Sequence[Hashable]) -> list[int]:
    """How many tokens of each row are to be read before all rows go on together. All are 0 where that saves little.

    Rows of one kind are expected to begin alike. Something is left of each row to go on from.
    """
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for number, kind in enumerate(kinds):
        groups[kind].append(number)
    shared = [0] * len(rows)
    for numbers in groups.values():
        for number in numbers:
            shared[number] = _common([rows[each] for each in numbers])
    apart = sum(shared[numbers[0]] for numbers in groups.values())
    together = len(rows) * max(len(row) - begun for row, begun in zip(rows, shared, strict=True))
    worthwhile = apart + together <= _WORTHWHILE * len(rows) * max(map(len, rows))
    return shared if worthwhile and all(shared) else [0] * len(rows)


def _common(rows: Sequence[Sequence[int]]) -> int:
    same = takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False))
    return min(sum(1 for _ in same), *(len(row) - 1 for row in rows))


def can_share(model: Any) -> bool:
    """Whether what a model remembers of a beginning can be handed to several rows, and padding may follow it.

    Not where it remembers anything but all tokens by themselves.
    """
    config = model.config.get_text_config()
    kinds = getattr(config, "layer_types", None) or ["full_attention"]
    windowed = getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True)
    return not windowed and set(kinds) == {"full_attention"} and not getattr(model, "_is_stateful", False)


def read(model: Any, begun: Sequence[Sequence[int]]) -> Any:
    """What the model remembers of these beginnings, one a row, the shorter ones padded on the left."""
    torch, transformers = library("torch"), library("transformers")
    width = max(map(len, begun))
    keys = [tuple(tokens) for tokens in begun]
    caches = {key: _read_one(model, key) for key in dict.fromkeys(keys)}

    def padded(values: Any) -> Any:
        return torch.nn.functional.pad(values, (0, 0, width - values.shape[-2], 0))

    whole = transformers.DynamicCache(config=model.config)
    for layer in range(len(caches[keys[0]].layers)):
        rows = [caches[key].layers[layer] for key in keys]
        whole.update(
            torch.cat([padded(row.keys) for row in rows]), torch.cat([padded(row.values) for row in rows]), layer
        )
    return whole


def _read_one(model: Any, tokens: Sequence[int]) -> Any:
    torch, transformers = library("torch"), library("transformers")
    cache = transformers.DynamicCache(config=model.config)
    ids = torch.tensor([list(tokens)], device=model.device)
    model(input_ids=ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
    return cache
