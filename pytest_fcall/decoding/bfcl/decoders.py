"""The official reading of prompted calls, by language and format, as decoders like any other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_fcall.core.expectation import Language
from pytest_fcall.core.reply import Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.decoding.bfcl.official_form import Undecodable, calls_of
from pytest_fcall.decoding.bfcl.python_calls import decode_python
from pytest_fcall.decoding.bfcl.structured_calls import decode_json
from pytest_fcall.decoding.call_marks import find_mark

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Decoder


CallFormat: TypeAlias = Literal["python", "json", "verbose_xml", "concise_xml"]

MAX_LENGTH = 1_000_000
"""Characters that are still read."""


def decode_prompt(text: object, language: Language = "python") -> object:
    """Read calls in the default format: a list in brackets, or what becomes one when they are put around it."""
    return decode_format(text, "python", tags=False, language=language)


def decode_format(text: object, format: CallFormat, *, tags: bool, language: Language = "python") -> object:  # noqa: A002  the benchmark's word
    """Read calls in one of the formats of the format sensitivity tests, between `<TOOLCALL>` tags if so asked.

    `language` matters to the format `python` only, which stands for source text.
    """
    if not isinstance(text, str):
        raise Undecodable(f"the output is of type {type(text).__name__}, not text")
    if len(text) > MAX_LENGTH:
        raise Undecodable(f"the output has more than {MAX_LENGTH:,} characters")
    text = _in_brackets(text.strip("`\n "))
    if tags:
        text = text_between(text, "<TOOLCALL>", "</TOOLCALL>").strip()
    if format == "json":
        return decode_json(text)
    if format != "python":
        from pytest_fcall.decoding.bfcl.structured_calls import decode_xml

        return decode_xml(f"<functions>{text_between(text, '<functions>', '</functions>')}</functions>", format)
    if language == "python":
        return decode_python(text.strip().strip("'"))
    if language == "java":
        from pytest_fcall.decoding.bfcl.source_code_calls import decode_java

        return decode_java(text[1:-1])
    from pytest_fcall.decoding.bfcl.source_code_calls import decode_javascript

    return decode_javascript(text[1:-1])


def text_between(text: str, opening: str, closing: str) -> str:
    """Give what stands between the first opening tag and the next closing one."""
    start = text.find(opening)
    end = text.find(closing, start + len(opening)) if start >= 0 else -1
    if end < 0:
        raise Undecodable(f"the output has no {opening} with its end")
    return text[start + len(opening) : end]


def _in_brackets(text: str) -> str:
    if not text.startswith("["):
        text = f"[{text}"
    return text if text.endswith("]") else f"{text}]"


# A call, or a list of calls, at the start of the text or in brackets, or the words that a format puts around calls:
# nobody says such a thing.
_MEANT = re.compile(
    r"(?:\A|\[)[\s`]*+[^\W\d][\w.]*+\((?:\s*+[^\W\d]\w*+\s*+=|['\"\d)\[{])"
    r"|<TOOLCALL>|<functions?[\s>]|\"function\"\s*+:"
)


def _decoder(format: CallFormat, *, tags: bool = False, language: Language = "python") -> Decoder:  # noqa: A002  the benchmark's word
    def decode(text: str, tools: Sequence[Tool] = ()) -> Calls:  # noqa: ARG001  the shape of every decoder
        try:
            decoded = decode_format(text, format, tags=tags, language=language)
        except Undecodable as error:
            if find_mark(text) is None and _MEANT.search(text) is None:
                return Calls()  # prose
            return Calls(malformed=f"The official decoder cannot read the text: {error}.")
        if not decoded and format == "json" and _MEANT.search(text):
            return Calls(malformed="The official decoder finds no call in the text: it is not JSON.")
        return calls_of(decoded or [])

    return decode


python = _decoder("python")
"""Reads a list of calls in Python; only arguments given by name are kept."""
java = _decoder("python", language="java")
"""Reads the first call in Java; arguments stay source text."""
javascript = _decoder("python", language="javascript")
"""Reads the first call in JavaScript; arguments stay source text."""
json = _decoder("json")
verbose_xml = _decoder("verbose_xml")
concise_xml = _decoder("concise_xml")
python_tagged = _decoder("python", tags=True)
json_tagged = _decoder("json", tags=True)
verbose_xml_tagged = _decoder("verbose_xml", tags=True)
concise_xml_tagged = _decoder("concise_xml", tags=True)
