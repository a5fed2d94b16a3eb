"""The official decoders of prompted calls by language and format, and the decoders `bfcl…` made of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_fcall.core.expectation import Language
from pytest_fcall.core.reply import Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.decoding.bfcl.official_form import Undecodable, calls_of
from pytest_fcall.decoding.bfcl.python_calls import decode_python
from pytest_fcall.decoding.bfcl.structured_calls import decode_json, decode_xml
from pytest_fcall.decoding.call_marks import find_mark

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Decoder

CallFormat: TypeAlias = Literal["python", "json", "verbose_xml", "concise_xml"]

_MAX_LENGTH = 1_000_000
# A call or a list of calls at the start of the text or in brackets, or the words that a format writes around calls.
# Prose does not contain them.
_ATTEMPT = re.compile(
    r"(?:\A|\[)[\s`]*+[^\W\d][\w.]*+\((?:\s*+[^\W\d]\w*+\s*+=|['\"\d)\[{])"
    r"|<TOOLCALL>|<functions?[\s>]|\"function\"\s*+:"
)


def decode_prompt(text: object, language: Language = "python") -> object:
    """Read calls in the default format: a list in brackets, which are added where they are missing."""
    return decode_format(text, "python", tags=False, language=language)


def decode_format(text: object, call_format: CallFormat, *, tags: bool, language: Language = "python") -> object:
    """Read calls in a format of the format sensitivity tests, with `tags` between `<TOOLCALL>` tags.

    `language` is that of the source text in the format `python`. Raises Undecodable.
    """
    if not isinstance(text, str):
        raise Undecodable(f"the output is of type {type(text).__name__}, not text")
    if len(text) > _MAX_LENGTH:
        raise Undecodable(f"the output has more than {_MAX_LENGTH:,} characters")
    text = _in_brackets(text.strip("`\n "))
    if tags:
        text = _text_between(text, "<TOOLCALL>", "</TOOLCALL>").strip()
    if call_format == "json":
        return decode_json(text)
    if call_format != "python":
        return decode_xml(f"<functions>{_text_between(text, '<functions>', '</functions>')}</functions>", call_format)
    if language == "python":
        return decode_python(text.strip().strip("'"))
    from pytest_fcall.decoding.bfcl.source_code_calls import decode_java, decode_javascript

    return decode_java(text[1:-1]) if language == "java" else decode_javascript(text[1:-1])


def _text_between(text: str, opening: str, closing: str) -> str:
    """Give the text between the first opening tag and the next closing one."""
    start = text.find(opening)
    end = text.find(closing, start + len(opening)) if start >= 0 else -1
    if end < 0:
        raise Undecodable(f"the output has no {opening} with its end")
    return text[start + len(opening) : end]


def _in_brackets(text: str) -> str:
    if not text.startswith("["):
        text = f"[{text}"
    return text if text.endswith("]") else f"{text}]"


def _decoder(call_format: CallFormat, *, tags: bool = False, language: Language = "python") -> Decoder:
    def decode(text: str, _tools: Sequence[Tool] = ()) -> Calls:
        try:
            decoded = decode_format(text, call_format, tags=tags, language=language)
        except Undecodable as error:
            if find_mark(text) is None and _ATTEMPT.search(text) is None:
                return Calls()  # prose
            return Calls(malformed=f"The official decoder cannot read the text: {error}.")
        if not decoded and call_format == "json" and _ATTEMPT.search(text):
            return Calls(malformed="The official decoder finds no call in the text: it is not JSON.")
        return calls_of(decoded or [])

    return decode


BFCL_DECODERS: Mapping[str, Decoder] = MappingProxyType(
    {
        "bfcl": _decoder("python"),
        "bfcl_java": _decoder("python", language="java"),
        "bfcl_javascript": _decoder("python", language="javascript"),
        "bfcl_json": _decoder("json"),
        "bfcl_verbose_xml": _decoder("verbose_xml"),
        "bfcl_concise_xml": _decoder("concise_xml"),
        "bfcl_tagged": _decoder("python", tags=True),
        "bfcl_json_tagged": _decoder("json", tags=True),
        "bfcl_verbose_xml_tagged": _decoder("verbose_xml", tags=True),
        "bfcl_concise_xml_tagged": _decoder("concise_xml", tags=True),
    }
)
"""By name. Those of Python keep only arguments given by name; those of Java and JavaScript give source text."""
