"""How the next token is chosen, as a request says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pytest_fcall.backends.local.settings import checked
from pytest_fcall.core import Json

_MOST = 512
_DRAWING = ("temperature", "top_p", "top_k")


@dataclass(frozen=True, slots=True)
class Sampling:
    """The most likely token each time, unless there is a temperature."""

    max_tokens: int = _MOST
    drawing: Mapping[str, Json] | None = None
    """What a draw depends on, where there is one."""
    repetition_penalty: float = 1.0
    seed: int | None = None
    grammar: bool = False
    """Whether nothing but calls of the offered tools, or none, can be said."""

    def options(self) -> dict[str, Any]:
        """The same in the words of transformers. Whatever a model's own folder says otherwise is overruled."""
        neutral: dict[str, Any] = {"temperature": 1.0, "top_p": 1.0, "top_k": 0}
        return {
            "max_new_tokens": self.max_tokens,
            "repetition_penalty": self.repetition_penalty,
            "do_sample": self.drawing is not None,
            "num_beams": 1,
            **((neutral | dict(self.drawing)) if self.drawing else {}),
        }


def read_sampling(settings: Mapping[str, Json]) -> Sampling:
    """Take what a request says. Raises CaseRefused for a value that cannot be."""
    said = checked(settings)
    drawing = {name: said[name] for name in _DRAWING if name in said}
    # A case may be written for any model, and most of these know `max_tokens` only.
    most = said.get("max_tokens", said.get("max_new_tokens", _MOST))
    return Sampling(
        max_tokens=cast("int", most),
        drawing=drawing if drawing.get("temperature") else None,
        repetition_penalty=cast("float", said.get("repetition_penalty", 1.0)),
        seed=cast("int | None", said.get("seed")),
        grammar=said.get("grammar") == "tools",
    )
