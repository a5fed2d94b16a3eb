"""Text of models that were told the format in the prompt."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pytest_fcall.core.rules import Language
from pytest_fcall.decoding.bfcl.json_calls import decode_json
from pytest_fcall.decoding.bfcl.python_calls import decode_python
from pytest_fcall.decoding.bfcl.undecodable import Undecodable

Format: TypeAlias = Literal["python", "json", "verbose_xml", "concise_xml"]

LONGEST = 1_000_000
"""Characters that are still read."""


def decode_prompt(text: object, language: Language = "python") -> object:
    """Read calls in the default format: a list in brackets, or what becomes one when they are put around it."""
    return decode_format(text, "python", tags=False, language=language)


def decode_format(text: object, format: Format, *, tags: bool, language: Language = "python") -> object:  # noqa: A002  the benchmark's word
    """Read calls in one of the formats of the format sensitivity tests, between `<TOOLCALL>` tags if so asked.

    `language` matters to the format `python` only, which stands for source text.
    """
    if not isinstance(text, str):
        raise Undecodable(f"the output is of type {type(text).__name__}, not text")
    if len(text) > LONGEST:
        raise Undecodable(f"the output has more than {LONGEST:,} characters")
    text = _in_brackets(text.strip("`\n "))
    if tags:
        text = between(text, "<TOOLCALL>", "</TOOLCALL>").strip()
    if format == "json":
        return decode_json(text)
    if format != "python":
        from pytest_fcall.decoding.bfcl.xml_calls import decode_xml

        return decode_xml(f"<functions>{between(text, '<functions>', '</functions>')}</functions>", format)
    if language == "python":
        return decode_python(text.strip().strip("'"))
    if language == "java":
        from pytest_fcall.decoding.bfcl.java_calls import decode_java

        return decode_java(text[1:-1])
    from pytest_fcall.decoding.bfcl.javascript_calls import decode_javascript

    return decode_javascript(text[1:-1])


def between(text: str, opening: str, closing: str) -> str:
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
