"""Whose fault it is that there is no answer, said in one line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_fcall.backends.error_shapes import SHAPES, Shape
from pytest_fcall.core import CaseRefused, ModelUnavailable, Reply, Unanswered

_SHOWN = 300
_TOKENS = re.compile(r"(?i)\b(bearer\s+|sk-|gsk_|xai-|AIza)[\w*.~+/=-]{4,}")
_SHORTEST = 4
"""A shorter secret would be found in ordinary words."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What a provider, a server, or the way to it said instead of an answer."""

    text: str
    status: int | None = None
    words: frozenset[str] = frozenset()
    """Codes, types and reasons, in lower case."""
    generation: str = ""
    """What the model had written, where that is told."""
    retry_after: float | None = None

    @property
    def shape(self) -> Shape:
        """The row of the table that speaks of it; the last one fits everything."""
        return next(shape for shape in SHAPES if shape.fits(self.status, self.words, self.text))


@dataclass(frozen=True, slots=True)
class Teller:
    """Says what happened to a model, without what nobody may read."""

    model: str
    secrets: tuple[str, ...] = ()
    key: str = "that holds it"
    """The variable with the key."""

    def say(self, *parts: str) -> str:
        """Join the parts that say anything, in one line of bearable length."""
        told = ": ".join(part for part in (self.hidden(part) for part in parts) if part)
        return f"{self.model}: {told}"

    def hidden(self, text: str) -> str:
        """Take secrets, line breaks and what is too much out of a text."""
        line = self.cleared(text)
        return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"

    def cleared(self, text: str) -> str:
        """Take secrets and line breaks out of a text that is bearable already."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            text = text.replace(secret, "…")
        return " ".join(_TOKENS.sub("…", text).split())


def worth_hiding(values: Iterable[str]) -> tuple[str, ...]:
    """The values that are secrets in earnest: long enough not to occur by chance."""
    return tuple({value for value in values if len(value) >= _SHORTEST})


def reply_or_raise(failure: Failure, teller: Teller) -> Reply:
    """Turn a failure into the reply that it is, if the model itself failed, or raise whose fault it is.

    Raises ModelUnavailable, CaseRefused or Unanswered.
    """
    shape = failure.shape
    advice = shape.advice.format(key=teller.key)
    status = f"HTTP {failure.status}" if failure.status and failure.status != 200 else ""
    said = failure.text if shape.quoted else ""
    match shape.blame:
        case "malformed":
            reason = teller.hidden(f"{advice}: {said}" if said else advice)
            return Reply(text=failure.generation, malformed=f"{reason[:1].upper()}{reason[1:]}", finish="unknown")
        case "length":
            return Reply(text=failure.generation, finish="length")
        case "model":
            raise ModelUnavailable(teller.say(advice, status, said))
        case "case":
            raise CaseRefused(teller.say(advice, status, said))
        case blame:
            told = teller.say(advice if failure.status else "", status, said)
            raise Unanswered(told, retry_after=failure.retry_after, throttled=blame == "throttled")
