"""The official reading of prompted calls, by language, as decoders like any other."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_fcall.core.call import Calls
from pytest_fcall.core.rules import Language
from pytest_fcall.core.tool import Tool
from pytest_fcall.decoding.bfcl.normal_form import calls_of
from pytest_fcall.decoding.bfcl.prompt import decode_prompt
from pytest_fcall.decoding.bfcl.undecodable import Undecodable
from pytest_fcall.decoding.call_marks import find_mark


def python(text: str, tools: Sequence[Tool] = ()) -> Calls:  # noqa: ARG001  the shape of every decoder
    """Read a list of calls in Python; only arguments given by name are kept."""
    return _decoded(text, "python")


def java(text: str, tools: Sequence[Tool] = ()) -> Calls:  # noqa: ARG001  the shape of every decoder
    """Read the first call in Java; arguments stay source text."""
    return _decoded(text, "java")


def javascript(text: str, tools: Sequence[Tool] = ()) -> Calls:  # noqa: ARG001  the shape of every decoder
    """Read the first call in JavaScript; arguments stay source text."""
    return _decoded(text, "javascript")


# A call, or a list of calls, at the start of the text or in brackets: nobody says such a thing.
_MEANT = re.compile(r"(?:\A|\[)[\s`]*+[^\W\d][\w.]*+\((?:\s*+[^\W\d]\w*+\s*+=|['\"\d)\[{])")


def _decoded(text: str, language: Language) -> Calls:
    try:
        decoded = decode_prompt(text, language)
    except Undecodable as error:
        if find_mark(text) is None and _MEANT.search(text) is None:
            return Calls()  # prose
        return Calls(malformed=f"The official decoder cannot read the text: {error}.")
    return calls_of(decoded or [])
