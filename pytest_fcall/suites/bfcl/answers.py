"""Stored answers: what a model said to a case, in the form in which the row has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.fields import flag, text
from pytest_fcall.suites.bfcl.markers import unmarked
from pytest_fcall.suites.bfcl.prompt_format import USUAL, PromptFormat, format_of
from pytest_fcall.suites.json_lines import BrokenRow

Source: TypeAlias = Literal["auto", "raw", "decoded"]
Form: TypeAlias = Literal["fc", "prompt", "decoded", "undecodable"]

_DECODERS: Mapping[object, Form] = {"fc_json": "fc", "prompt_default": "prompt"}
_STYLES: Mapping[object, Form] = {"FC": "fc", "prompt": "prompt", "calls": "decoded"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said.

    `said` is for `fc` a list of `{name: JSON text}`, or text; for `prompt` text; for `decoded` the list of
    `{name: arguments}` that a decoder gave. Whether it really is that is nobody's promise. With `undecodable` it
    is the text, if the row has it, that a decoder failed on.
    """

    form: Form
    said: object
    underscored: bool = False
    """Whether the model was told names with underscores for dots."""
    asked: PromptFormat = USUAL
    """The format that a text was asked for in."""


def answer_of(row: Mapping[str, Json], source: Source = "auto") -> Answer:
    """Take the answer out of a row; BrokenRow where there is none.

    `source` chooses for rows whose decoder is known here: they may have both the raw answer and the decoded one.
    """
    underscored = flag(row, "underscore_to_dot")
    form = _form(row)
    if form == "decoded":
        return _decoded(row, underscored)
    if source == "decoded" or (source == "auto" and "raw" not in row and "decoded" in row):
        return _decoded(row, underscored)
    if "raw" not in row:
        raise BrokenRow("it has no `raw` answer")
    return Answer(form, row["raw"], underscored, format_of(text(row, "id")) if "id" in row else USUAL)


def _form(row: Mapping[str, Json]) -> Form:
    """By the decoder, or by the style where the row names no decoder."""
    if row.get("decoder") is not None:
        return _DECODERS.get(text(row, "decoder"), "decoded")
    return _STYLES.get(text(row, "style"), "decoded") if "style" in row else "decoded"


def _decoded(row: Mapping[str, Json], underscored: bool) -> Answer:
    if "decoded" not in row:
        raise BrokenRow("it has no `decoded` answer, and `raw` is only read where `style` is FC or prompt")
    if row["decoded"] is None and _has_failed(row):
        return Answer("undecodable", row.get("raw"), underscored)
    try:
        return Answer("decoded", unmarked(row["decoded"]), underscored)
    except RecursionError:
        raise BrokenRow("its answer is nested too deeply") from None


def _has_failed(row: Mapping[str, Json]) -> bool:
    """Whether null means that a decoder failed. One that gave null itself left no error."""
    decoder_ran = row.get("decoder") is not None
    return decoder_ran and not ("decode_error" in row and row["decode_error"] is None)
