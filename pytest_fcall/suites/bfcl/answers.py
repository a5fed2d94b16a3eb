"""Stored answers: the answer in a row of answers or of official results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.prompt_formats import DEFAULT_FORMAT, PromptFormat, format_of
from pytest_fcall.suites.bfcl.row_fields import flag_field, text_field
from pytest_fcall.suites.json_files import BrokenRow


def restore_python_values(value: object) -> object:
    """Put the tuples, bytes, complex numbers and odd keys back that stand as `{"__tuple__": […]}` and the like.

    A mark around something else than it promises is an ordinary object.
    """
    if isinstance(value, list):
        return [restore_python_values(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (key, inside), *_ = value.items()
        if key in _MARKS:
            try:
                return _MARKS[key](inside)
            except (TypeError, ValueError):
                pass
    return {key: restore_python_values(item) for key, item in value.items()}


def _tuple(items: object) -> tuple[object, ...]:
    return tuple(restore_python_values(item) for item in _marked_list(items))


def _dict(pairs: object) -> dict[object, object]:
    return {
        restore_python_values(key): restore_python_values(item) for key, item in map(_marked_list, _marked_list(pairs))
    }


def _bytes(text: object) -> bytes:
    if not isinstance(text, str):
        raise TypeError
    return text.encode("latin-1")


def _complex(parts: object) -> complex:
    real, imaginary = map(_number, _marked_list(parts))
    return complex(real, imaginary)


def _marked_list(value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError
    return value


_MARKS: Mapping[str, Callable[[object], object]] = MappingProxyType(
    {"__tuple__": _tuple, "__dict__": _dict, "__bytes__": _bytes, "__complex__": _complex}
)


Source: TypeAlias = Literal["auto", "raw", "decoded"]
Form: TypeAlias = Literal["fc", "prompt", "decoded", "undecodable"]

_FORM_BY_DECODER: Mapping[object, Form] = {"fc_json": "fc", "prompt_default": "prompt"}
_FORM_BY_STYLE: Mapping[object, Form] = {"FC": "fc", "prompt": "prompt", "calls": "decoded"}


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
    asked: PromptFormat = DEFAULT_FORMAT
    """The format that a text was asked for in."""


def read_answer(row: Mapping[str, Json], source: Source = "auto") -> Answer:
    """Take the answer out of a row; BrokenRow where there is none.

    `source` chooses for rows whose decoder is known here: they may have both the raw answer and the decoded one.
    """
    underscored = flag_field(row, "underscore_to_dot")
    form = _form(row)
    if form == "decoded":
        return _decoded_answer(row, underscored)
    if source == "decoded" or (source == "auto" and "raw" not in row and "decoded" in row):
        return _decoded_answer(row, underscored)
    if "raw" not in row:
        raise BrokenRow("it has no `raw` answer")
    return Answer(form, row["raw"], underscored, format_of(text_field(row, "id")) if "id" in row else DEFAULT_FORMAT)


def _form(row: Mapping[str, Json]) -> Form:
    """By the decoder, or by the style where the row names no decoder."""
    if row.get("decoder") is not None:
        return _FORM_BY_DECODER.get(text_field(row, "decoder"), "decoded")
    return _FORM_BY_STYLE.get(text_field(row, "style"), "decoded") if "style" in row else "decoded"


def _decoded_answer(row: Mapping[str, Json], underscored: bool) -> Answer:
    if "decoded" not in row:
        raise BrokenRow("it has no `decoded` answer, and `raw` is only read where `style` is FC or prompt")
    if row["decoded"] is None and _has_failed(row):
        return Answer("undecodable", row.get("raw"), underscored)
    try:
        return Answer("decoded", restore_python_values(row["decoded"]), underscored)
    except RecursionError:
        raise BrokenRow("its answer is nested too deeply") from None


def _has_failed(row: Mapping[str, Json]) -> bool:
    """Whether null means that a decoder failed. One that gave null itself left no error."""
    decoder_ran = row.get("decoder") is not None
    return decoder_ran and not ("decode_error" in row and row["decode_error"] is None)


def as_answer_row(row: Mapping[str, Json]) -> Mapping[str, Json]:
    """Give a row as `answer_of` reads it; one that is no row of results is given back.

    It says neither its category, which its id begins with, nor how the model was asked. Lists are native calls, which
    are made by names without dots; text is taken for what the official prompt asks for.
    """
    if "raw" in row or "category" in row:
        return row
    if "result" not in row:
        raise BrokenRow("it has neither a `category`, as rows of answers do, nor a `result`, as rows of results do")
    result = row["result"]
    told = {**row, "category": category_of_id(text_field(row, "id")), "raw": result}
    if not isinstance(result, list):
        return {"style": "prompt", **told}
    if any(isinstance(turn, list) for turn in result):
        return told  # a conversation, whose replies show it one by one
    return {"style": "FC", "underscore_to_dot": True, **told}


def category_of_id(id_: str) -> str:
    """The category that an id begins with: `live_simple` of `live_simple_1-2-3`, whatever stands behind a colon."""
    return id_.partition(":")[0].rpartition("_")[0]
