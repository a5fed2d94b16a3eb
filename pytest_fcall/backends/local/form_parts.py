"""What forms of answers are put together from: data for xgrammar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from pytest_fcall.core import Json, Tool, canonical

Form: TypeAlias = Callable[[Sequence[Tool]], Mapping[str, Json]]
"""Makes a form of the tools that are offered."""


def json_schema(schema: Json, *without: str) -> dict[str, Json]:
    """A value that fits the schema, with no more white space than people write.

    None of `without` stands in its strings, unless the schema limits their length: xgrammar cannot hold to both.
    """
    form: dict[str, Json] = {"type": "json_schema", "json_schema": schema, "max_whitespace_cnt": 1}
    return {**form, "excludes": list(without)} if without and "Length" not in canonical(schema) else form


def tag(begin: str, content: Json, end: str) -> dict[str, Json]:
    """Something between two marks."""
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def text(*without: str) -> dict[str, Json]:
    """Any text in which none of these stands."""
    return {"type": "any_text", "excludes": list(without)}


def tags_in_text(trigger: str, tags: Sequence[Json], *without: str) -> dict[str, Json]:
    """Any text, in which nothing but one of `tags` may begin with `trigger`."""
    return {"type": "triggered_tags", "triggers": [trigger], "tags": list(tags), "excludes": list(without)}
