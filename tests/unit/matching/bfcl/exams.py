"""One function and one expected call, briefly written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fcall.core import Language
from pytest_fcall.matching.bfcl.checker import check_answer
from pytest_fcall.matching.bfcl.official_case import OfficialCase


def function(name: str = "f", required: Sequence[str] = (), **properties: Any) -> dict[str, Any]:
    """A function of the official form; a type `array[string]` names the type of the items, too."""
    typed = {key: word if isinstance(word, Mapping) else _schema(word) for key, word in properties.items()}
    return {"name": name, "parameters": {"type": "dict", "properties": typed, "required": list(required)}}


def _schema(word: str) -> dict[str, Any]:
    outer, _, inner = word.rstrip("]").partition("[")
    return {"type": outer, "items": {"type": inner}} if inner else {"type": outer}


def ruled(
    word: Any, alternatives: Any, value: Any, *, language: Language = "python", required: Sequence[str] = ()
) -> str | None:
    """The error type for one argument `x` of the type `word`; None where it is right."""
    exam = OfficialCase("simple", [function(x=word, required=required)], [{"f": {"x": alternatives}}], language)
    return check_answer(exam, [{"f": {"x": value}}]).error_type
