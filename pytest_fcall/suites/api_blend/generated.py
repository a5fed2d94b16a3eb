"""Rows as API-BLEND's own scripts write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pytest_fcall.core.call import Call
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.families import api_blend
from pytest_fcall.suites.api_blend.fields import decoded, text_in, texts_in
from pytest_fcall.suites.api_blend.sample import NAMELESS, Sample
from pytest_fcall.suites.json_lines import BrokenRow


def parameters(row: Mapping[str, Json]) -> Iterator[Sample]:
    """SeqATIS and SeqSNIPS: each slot has a list of values."""
    listed = row.get("APIs")
    if not isinstance(listed, list):
        raise BrokenRow("it needs `text` and `APIs`, a list")
    calls = []
    for each in listed:
        match each:
            case {"API": str(name), "Parameters": Mapping() as given}:
                calls.append(Call(name, dict(given)))
            case _:
                raise BrokenRow("each of `APIs` needs `API` and `Parameters`")
    yield Sample(text_in(row, "text"), (tuple(calls),))


def topv2(row: Mapping[str, Json]) -> Iterator[Sample]:
    """SeqTopV2: each call is a text."""
    yield Sample(text_in(row, "input"), (decoded(api_blend.topv2("\n".join(texts_in(row, "apis")))),))


def sgd(row: Mapping[str, Json]) -> Iterator[Sample]:
    """SeqSGD and SeqMultiWOZ: all calls are one text."""
    yield Sample(text_in(row, "input"), (decoded(api_blend.sgd(text_in(row, "output"))),))


def toolqa(row: Mapping[str, Json]) -> Iterator[Sample]:
    """SeqToolQA: each call is a text, some with a value that has no name."""
    text = text_in(row, "question" if "question" in row else "input")
    yield Sample(text, (tuple(map(_toolqa_call, texts_in(row, "apis"))),))


def _toolqa_call(text: str) -> Call:
    """`LoadDB[DBName=flights]` as well as `LoadDB[flights]` or `PythonInterpreter(…)`, whose argument has no name."""
    name, found, inside = re.split(r"([\[(])", f"{text.strip()}[", maxsplit=1)[:3]
    inside = inside.removesuffix("[").strip().removesuffix("]" if found == "[" else ")")
    if not name or not inside.strip():
        return Call(name, {})
    if found == "[" and "=" in inside:
        return decoded(api_blend.toolqa(text.strip()))[0]
    return Call(name, {NAMELESS: inside.strip()})
