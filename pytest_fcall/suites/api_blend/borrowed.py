"""Rows of data sets that API-BLEND takes from others, as these publish them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from pytest_fcall.core.call import Call
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.families import toolbench
from pytest_fcall.decoding.python import calls as python
from pytest_fcall.suites.api_blend.fields import decoded, text_in, texts_in
from pytest_fcall.suites.api_blend.sample import Sample
from pytest_fcall.suites.json_lines import BrokenRow
from pytest_fcall.suites.toolbench.booking import Booking
from pytest_fcall.suites.toolbench.home_search import HomeSearch

_ODD: Final = re.compile(r"[^\w.:-]+")
_REQUEST: Final = re.compile(r"API-Request:\s*(?P<call>\[.*\])", re.DOTALL)
_SEARCHER: Final = "ToolSearcher"
"""API-Bank's search for functions. API-BLEND tells all functions, and has no such calls."""


def toolllm(row: Mapping[str, Json]) -> Iterator[Sample]:
    """ToolLLM: names of functions alone."""
    right, listed = row.get("relevant APIs", row.get("relevant_apis")), row.get("api_list")
    if not isinstance(right, list) or not right:
        raise BrokenRow("it needs `query` and `relevant APIs`, pairs of a tool and a function")
    if not all(isinstance(each, list) and len(each) == 2 for each in right):
        raise BrokenRow("`relevant APIs` holds something other than pairs")
    offered = [
        _name(each.get("tool_name"), each.get("api_name"))
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, Mapping)
    ]
    calls = tuple(Call(_name(*each), {}) for each in right)
    yield Sample(text_in(row, "query"), (calls,), tuple(dict.fromkeys(offered)))


def _name(tool: Json, function: Json) -> str:
    """A name that is one; ToolLLM, too, puts `get_` before a digit."""
    if not isinstance(tool, str) or not isinstance(function, str):
        raise BrokenRow("the name of a tool or of a function is no text")
    name = ".".join(_ODD.sub("_", each).strip("_") for each in (tool, function))
    return name if name[:1].isalpha() else f"get_{name}"


def api_bank(row: Mapping[str, Json]) -> Iterator[Sample]:
    """API-Bank: what was said so far, and the call that comes next."""
    said = text_in(row, "expected_output" if "expected_output" in row else "output")
    if (found := _REQUEST.search(said)) is None:
        raise BrokenRow("its output is no `API-Request: [Name(key='value')]`")
    text = "\n".join(str(row[key]) for key in ("instruction", "input") if row.get(key))
    if not text.strip():
        raise BrokenRow("it needs `input`")
    calls = decoded(python.decode(found["call"]))
    if [call.name for call in calls] != [_SEARCHER]:
        yield Sample(text, (calls,))


def dialogue(turns: Iterable[tuple[int, Json]]) -> Iterator[tuple[int, Sample | BrokenRow]]:
    """A dialogue of API-Bank, turn by turn: what was said is the question for each call. It ends at a broken turn."""
    said: list[str] = []
    for place, turn in turns:
        match turn:
            case {"role": "API", "api_name": str(name), "param_dict": Mapping() as given, **rest}:
                if name != _SEARCHER:
                    yield place, Sample("\n".join(said), ((Call(name, dict(given)),),))
                said.append(f"API: {name} gave {json.dumps(rest.get('result'), ensure_ascii=False)[:2_000]}")
            case {"role": str(role), "text": str(text)}:
                said.append(f"{role}: {text}")
            case _:
                why = "a turn needs `role` and `text`, or `role: API`, `api_name` and `param_dict`"
                yield place, BrokenRow(why)
                return


def programs(row: Mapping[str, Json]) -> Iterator[Sample]:
    """ToolBench: each right answer is a program."""
    labels = texts_in(row, "completion")
    yield Sample(text_in(row, "prompt"), tuple(decoded(toolbench.decode(label, _APIS)) for label in labels))


# They take one argument each, which programs give by position.
_APIS: Final = tuple(
    Tool(name, parameters={"type": "object", "properties": {} if name in ("search", "clear") else {"value": {}}})
    for api in (HomeSearch, Booking)
    for name in (*api.setters, *sorted(api.methods))
)
