"""Stored answers, read from rows of answers or from rows of official results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.bfcl.decoders import decode_prompt
from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.decoding.decoders import DECODERS, decode
from pytest_fcall.suites.bfcl.categories import DEFAULT_FORMAT, PromptFormat, format_of
from pytest_fcall.suites.bfcl.source_calls import official_call_source
from pytest_fcall.suites.json_files import BrokenRow, boolean_field, string_field

ResultSource: TypeAlias = Literal["auto", "raw", "decoded"]
AnswerForm: TypeAlias = Literal["fc", "prompt", "text", "decoded", "undecodable"]

FORM_BY_DECODER: Mapping[str, AnswerForm] = MappingProxyType({"fc_json": "fc", "prompt_default": "prompt"})
"""The official decoders of rows, for native calls and for prompts."""
ANSWER_DECODERS = (*FORM_BY_DECODER, *DECODERS)
"""The decoders that a row may name to have its `raw` read."""
FORM_BY_STYLE: Mapping[object, AnswerForm] = MappingProxyType({"FC": "fc", "prompt": "prompt", "calls": "decoded"})
_FORGIVING = frozenset({"hermes", "qwen_coder", "functiongemma"})
"""The formats whose official decoders find no call where none can be read; others fail."""


@dataclass(frozen=True, slots=True)
class BfclAnswer:
    """The stored answer of a model.

    `content` is for `fc` a list of `{name: JSON text}`, or text; for `prompt` text; for `text` text that `decoder`
    reads; for `decoded` the list of `{name: arguments}` that a decoder returned. This is not checked. For `undecodable`
    it is the text that a decoder failed on, if the row has it.
    """

    form: AnswerForm
    content: object
    underscored: bool = False
    """Whether the names of tools had underscores in place of dots."""
    prompt_format: PromptFormat = DEFAULT_FORMAT
    """The format that the prompt asked for."""
    decoder: str = "auto"
    """The name of the decoder of a `text`."""
    has_objects: bool = False
    """Whether the handler stores the arguments of native calls as objects, and not as JSON text."""


@dataclass(frozen=True, slots=True)
class Handler:
    """The way in which the harness's handler of a model writes answers, as far as rows do not say it."""

    native: bool = False
    """Whether it stores native calls, and text where there is none."""
    underscored: bool | None = None
    """Whether the names of functions have underscores for dots; None if no answer shows it."""
    decoder: str | None = None
    """The decoder of its text; None for native calls, and for text in the format of the leaderboard's prompt."""


UNKNOWN_HANDLER = Handler()


def read_answer(row: Mapping[str, Json], source: ResultSource = "auto", known: Handler = UNKNOWN_HANDLER) -> BfclAnswer:
    """Read the answer of a row. Raises BrokenRow without an answer.

    `source` chooses between the raw and the decoded answer of a row that has both.
    """
    underscored = boolean_field({"underscore_to_dot": bool(known.underscored), **row}, "underscore_to_dot")
    form = _form(row)
    if form == "decoded" or source == "decoded" or (source == "auto" and "raw" not in row and "decoded" in row):
        return _decoded_answer(row, underscored)
    if "raw" not in row:
        raise BrokenRow("missing `raw`")
    if form == "fc" and row.get("decoder") is None and _are_read_calls(row["raw"]):
        return BfclAnswer(form, row["raw"], underscored, has_objects=True)
    asked = format_of(string_field(row, "id")) if "id" in row else DEFAULT_FORMAT
    return BfclAnswer(form, row["raw"], underscored, asked, str(row["decoder"]) if form == "text" else "auto")


def _are_read_calls(answer: Json) -> bool:
    """Whether the arguments of native calls are objects, as some handlers store them, and not JSON text."""
    calls = answer if isinstance(answer, list) else []
    arguments = [each for call in calls if isinstance(call, Mapping) for each in call.values()]
    return bool(arguments) and all(isinstance(each, Mapping) for each in arguments)


def answer_text(text: object, decoder: str) -> Calls:
    """Return the calls that one of our decoders reads in a text. Anything else than text is malformed."""
    return decode(Reply(text, decoder=decoder)) if isinstance(text, str) else Calls(malformed="It is not text.")


def decode_text(answer: BfclAnswer) -> list[object]:
    """Return the calls in a text of a model's own format, in the official form. Raises Undecodable without any.

    The official decoders of some formats pass over what they cannot read.
    """
    calls = answer_text(answer.content, answer.decoder)
    if answer.decoder not in _FORGIVING and (calls.malformed is not None or not calls.calls):
        raise Undecodable(calls.malformed or "there is no call in the text")
    return [{call.name: dict(call.arguments)} for call in calls.calls]


def _form(row: Mapping[str, Json]) -> AnswerForm:
    """The form by the decoder, or by the style if the row names no decoder."""
    if row.get("decoder") is not None:
        name = string_field(row, "decoder")
        return FORM_BY_DECODER.get(name) or ("text" if name in DECODERS else "decoded")
    return FORM_BY_STYLE.get(string_field(row, "style"), "decoded") if "style" in row else "decoded"


def _decoded_answer(row: Mapping[str, Json], underscored: bool) -> BfclAnswer:
    if "decoded" not in row:
        raise BrokenRow(
            "missing `decoded`; `raw` is read only with style FC or prompt, "
            "or with a `decoder` that `fcall score --format bfcl --help` lists"
        )
    if row["decoded"] is None and _decoder_failed(row):
        return BfclAnswer("undecodable", row.get("raw"), underscored)
    try:
        return BfclAnswer("decoded", restore_python_values(row["decoded"]), underscored)
    except RecursionError:
        raise BrokenRow("`decoded` is nested too deeply") from None


def _decoder_failed(row: Mapping[str, Json]) -> bool:
    """Whether `decoded: null` means that the decoder failed. A decoder that returned null left no error."""
    decoder_ran = row.get("decoder") is not None
    return decoder_ran and not ("decode_error" in row and row["decode_error"] is None)


def as_answer_row(row: Mapping[str, Json], known: Handler = UNKNOWN_HANDLER) -> Mapping[str, Json]:
    """Convert a row of official results to a row of answers, and complete rows that do not say how to read them.

    A row of results has neither a category, which its id begins with, nor the way in which the model was asked. Lists
    are native calls; texts are answers to the official prompt, unless the handler writes another form.
    """
    if "raw" in row or "category" in row:
        return _with_decoder(row, known)
    if "result" not in row:
        raise BrokenRow("missing `category` (in rows of answers) or `result` (in rows of results)")
    result = row["result"]
    answer: dict[str, Json] = {**row, "category": category_of_id(string_field(row, "id")), "raw": result}
    if is_conversation_result(result):
        return answer  # its form is known for each reply
    if isinstance(result, list):
        return {"style": "FC", "underscore_to_dot": known.underscored is not False, **answer}
    return _with_decoder({"style": "FC" if known.native or known.decoder else "prompt", **answer}, known)


def is_conversation_result(result: Json) -> bool:
    """Return whether a result has the replies of several turns."""
    return isinstance(result, list) and any(isinstance(turn, list) for turn in result)


def _with_decoder(row: Mapping[str, Json], handler: Handler) -> Mapping[str, Json]:
    """The row with the decoder of the handler, if its answer is text and nothing says how to read it."""
    is_open = row.get("decoder") is None and row.get("style") in (None, "FC") and isinstance(row.get("raw"), str)
    return {**row, "decoder": handler.decoder} if is_open and handler.decoder and "decoded" not in row else row


def category_of_id(id_: str) -> str:
    """Return the category that an id begins with: `live_simple` of `live_simple_1-2-3:…`."""
    return id_.partition(":")[0].rpartition("_")[0]


def restore_python_values(value: object) -> object:
    """Restore tuples, bytes, complex numbers and keys other than strings, which are stored as `{"__tuple__": […]}` etc.

    A mark around a value of another type is an ordinary object.
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


def readable_sources(answer: BfclAnswer) -> list[str]:
    """Return the calls of one answer; none if there is no call, or one that cannot be read."""
    try:
        return read_call_sources(answer)
    except Undecodable:
        return []


def read_call_sources(answer: BfclAnswer) -> list[str]:
    """Return the calls of one answer. Raises Undecodable for anything that is not a call."""
    try:
        return _read(answer)
    except (_NotCalls, ValueError, RecursionError):
        raise Undecodable("the decoded answer is not a list of calls") from None


class _NotCalls(Exception):
    """A value is not a call, or not a list of calls."""


def _read(answer: BfclAnswer) -> list[str]:
    match answer.form:
        case "fc":
            return list(_native(answer.content))
        case "prompt":
            return list(_prompted(decode_prompt(answer.content)))
        case "text":
            return list(_decoded(decode_text(answer)))
        case "decoded":
            return list(_decoded(answer.content))
        case "undecodable":
            raise Undecodable("the row says so")


def _native(content: object) -> Iterator[str]:
    """Calls given as `{name: JSON text}` or `{name: arguments}`. Each of several names in one object is a call."""
    for call in _as_list([content] if isinstance(content, Mapping) else content):
        for name, given in _as_mapping(call).items():
            arguments = json.loads(given) if isinstance(given, str) else given
            yield official_call_source(name, _as_mapping(arguments))


def _prompted(decoded: object) -> Iterator[str]:
    for call in _as_list(decoded):
        for name, arguments in _as_mapping(call).items():
            yield _nested_source(name, _as_mapping(arguments))


def _decoded(content: object) -> Iterator[str]:
    """Calls that a decoder returned, as mappings or as source."""
    for call in _as_list(content):
        if isinstance(call, str):
            yield call
        else:
            yield from _prompted([call])


def _nested_source(name: object, arguments: Mapping[object, object]) -> str:
    return f"{name}({', '.join(f'{key}={_value_source(value)}' for key, value in arguments.items())})"


def _value_source(value: object) -> str:
    """A value as source. A mapping with only mappings in it is taken for a nested call."""
    if not isinstance(value, Mapping):
        return repr(value)
    if all(isinstance(each, Mapping) for each in value.values()):
        if not value:
            raise _NotCalls
        name = next(iter(value))
        return _nested_source(name, value[name])
    return "{" + ", ".join(f"'{key}': {_value_source(each)}" for key, each in value.items()) + "}"


def _as_list(value: object) -> Sequence[object]:
    if isinstance(value, list | tuple):
        return value
    raise _NotCalls


def _as_mapping(value: object) -> Mapping[object, object]:
    if isinstance(value, Mapping):
        return value
    raise _NotCalls
