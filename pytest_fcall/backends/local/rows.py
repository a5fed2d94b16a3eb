"""Prompts as tokens, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.backends.local.generation import Generated, Prompt
from pytest_fcall.backends.local.loading import Loaded
from pytest_fcall.core import CaseRefused, Json, Tool


@dataclass(frozen=True, slots=True)
class Row:
    """A prompt as tokens."""

    tokens: Sequence[int]
    tools: tuple[Tool, ...]
    room: int
    """How many tokens may be written after it."""

    @property
    def kind(self) -> tuple[str, ...]:
        """Prompts with the same tools begin alike."""
        return tuple(tool.name for tool in self.tools)


class Rows:
    """Turns prompts into rows, and what was written after them into text."""

    def __init__(self, loaded: Loaded) -> None:
        self.ends = loaded.ends
        self.pad: int = next(
            (each for each in (loaded.tokenizer.pad_token_id, *sorted(loaded.ends)) if each is not None), 0
        )
        self.limit: int | None = getattr(loaded.model.config.get_text_config(), "max_position_embeddings", None)
        """How many tokens the model can read, where it says so."""
        self._tokenizer = loaded.tokenizer

    def row(self, prompt: Prompt, most: int) -> Row:
        """Make a row that may be followed by `most` tokens. Raises CaseRefused for one that the model cannot read."""
        tokens = self._tokenizer(prompt.text, add_special_tokens=False)["input_ids"]
        limit = self.limit or len(tokens) + most
        if len(tokens) >= limit:
            raise CaseRefused(f"the prompt has {len(tokens):,} tokens, and the model can read {limit:,}")
        return Row(tokens, prompt.tools, min(most, limit - len(tokens)))

    def generated(
        self, row: Row, written: Sequence[int], seconds: float, engine: Mapping[str, Json] | None = None
    ) -> Generated:
        """Read what was written after a row, up to its end; it may be filled up behind that."""
        written = written[: row.room]
        end = next((place for place, token in enumerate(written) if token in self.ends), None)
        # Special tokens stay, since some formats of calls are made of them; the one that ends the answer does not.
        text = self._tokenizer.decode(written[:end], skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return Generated(
            text=text,
            input_tokens=len(row.tokens),
            output_tokens=len(written) if end is None else end + 1,
            finish="length" if end is None else "stop",
            seconds=round(seconds, 3),
            engine=engine or {},
        )
