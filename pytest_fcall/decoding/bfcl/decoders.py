"""The official reading of prompted calls, by language and format, as decoders like any other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_fcall.core.call import Calls
from pytest_fcall.core.rules import Language
from pytest_fcall.core.tool import Tool
from pytest_fcall.decoding.bfcl.normal_form import calls_of
from pytest_fcall.decoding.bfcl.prompt import Format, decode_format
from pytest_fcall.decoding.bfcl.undecodable import Undecodable
from pytest_fcall.decoding.call_marks import find_mark

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Decoder

# A call, or a list of calls, at the start of the text or in brackets, or the words that a format puts around calls:
# nobody says such a thing.
_MEANT = re.compile(
    r"(?:\A|\[)[\s`]*+[^\W\d][\w.]*+\((?:\s*+[^\W\d]\w*+\s*+=|['\"\d)\[{])"
    r"|<TOOLCALL>|<functions?[\s>]|\"function\"\s*+:"
)


def _decoder(format: Format, *, tags: bool = False, language: Language = "python") -> Decoder:  # noqa: A002  the benchmark's word
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
