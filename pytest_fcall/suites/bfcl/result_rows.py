"""Rows of the harness's own files of results, as rows of answers."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.fields import text
from pytest_fcall.suites.json_lines import BrokenRow


def answer_row(row: Mapping[str, Json]) -> Mapping[str, Json]:
    """Give a row as `answer_of` reads it; one that is no row of results is given back.

    It says neither its category, which its id begins with, nor how the model was asked. Lists are native calls, which
    are made by names without dots; text is taken for what the official prompt asks for.
    """
    if "raw" in row or "category" in row:
        return row
    if "result" not in row:
        raise BrokenRow("it has neither a `category`, as rows of answers do, nor a `result`, as rows of results do")
    result = row["result"]
    told = {**row, "category": category_of(text(row, "id")), "raw": result}
    if not isinstance(result, list):
        return {"style": "prompt", **told}
    if any(isinstance(turn, list) for turn in result):
        return told  # a conversation, whose replies show it one by one
    return {"style": "FC", "underscore_to_dot": True, **told}


def category_of(id_: str) -> str:
    """The category that an id begins with: `live_simple` of `live_simple_1-2-3`, whatever stands behind a colon."""
    return id_.partition(":")[0].rpartition("_")[0]
