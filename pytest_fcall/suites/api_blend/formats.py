"""Rows of the data sets as samples: a question, the calls that are right, and what may be called."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.call import Call, Calls
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.families import api_blend, toolbench
from pytest_fcall.decoding.python import calls as python
from pytest_fcall.suites.api_blend.sets import Format
from pytest_fcall.suites.json_lines import BrokenRow
from pytest_fcall.suites.toolbench.booking import Booking
from pytest_fcall.suites.toolbench.home_search import HomeSearch

Path: TypeAlias = tuple[Call, ...]
Read: TypeAlias = "Iterator[Sample]"

_ODD: Final = re.compile(r"[^\w.:-]+")
_REQUEST: Final = re.compile(r"API-Request:\s*(?P<call>\[.*\])", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sample:
    """One question."""

    text: str
    paths: tuple[Path, ...]
    """What is right; one of them is enough."""
    offered: tuple[str, ...] = ()
    """The functions that may be called; those of the whole data set where it is empty."""


def samples_of(kind: Format, row: Json) -> list[Sample]:
    """Read a row, which may hold several questions. BrokenRow says what is wrong with it."""
    if not isinstance(row, Mapping):
        raise BrokenRow("it is no object")
    return list(_READERS[kind](row))


def dialogue_samples(rows: Sequence[Json]) -> list[Sample]:
    """Read a dialogue of API-Bank, in which a line is a turn: what was said is the question for each call."""
    said: list[str] = []
    found = []
    for row in rows:
        match row:
            case {"role": "API", "api_name": str(name), "param_dict": Mapping() as given, **rest}:
                found.append(Sample("\n".join(said), ((Call(name, dict(given)),),)))
                said.append(f"API: {name} gave {json.dumps(rest.get('result'), ensure_ascii=False)[:2_000]}")
            case {"role": str(role), "text": str(text)}:
                said.append(f"{role}: {text}")
            case _:
                raise BrokenRow("a turn needs `role` and `text`, or `role: API`, `api_name` and `param_dict`")
    return found


def _json(row: Mapping[str, Json]) -> Read:
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
    yield Sample(_text(row, "text"), (tuple(calls),))


def _topv2(row: Mapping[str, Json]) -> Read:
    yield Sample(_text(row, "input"), (_decoded(api_blend.topv2("\n".join(_texts(row, "apis")))),))


def _sgd(row: Mapping[str, Json]) -> Read:
    yield Sample(_text(row, "input"), (_decoded(api_blend.sgd(_text(row, "output"))),))


def _toolqa(row: Mapping[str, Json]) -> Read:
    text = _text(row, "question" if "question" in row else "input")
    yield Sample(text, (tuple(map(_toolqa_call, _texts(row, "apis"))),))


def _toolqa_call(text: str) -> Call:
    """`LoadDB[DBName=flights]` as well as `LoadDB[flights]` or `PythonInterpreter(…)`, whose argument has no name."""
    name, found, inside = re.split(r"([\[(])", f"{text.strip()}[", maxsplit=1)[:3]
    inside = inside.removesuffix("[").strip().removesuffix("]" if found == "[" else ")")
    if not name or not inside.strip():
        return Call(name, {})
    if found == "[" and "=" in inside:
        return _decoded(api_blend.toolqa(text.strip()))[0]
    return Call(name, {"value": inside.strip()})


def _toolllm(row: Mapping[str, Json]) -> Read:
    right = row.get("relevant APIs", row.get("relevant_apis"))
    if not isinstance(right, list):
        raise BrokenRow("it needs `query` and `relevant APIs`, pairs of a tool and a function")
    listed = row.get("api_list")
    offered = [
        _name(each.get("tool_name"), each.get("api_name"))
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, Mapping)
    ]
    calls = []
    for each in right:
        if not isinstance(each, list) or len(each) != 2:
            raise BrokenRow("`relevant APIs` holds something other than pairs")
        calls.append(Call(_name(*each), {}))
    yield Sample(_text(row, "query"), (tuple(calls),), tuple(dict.fromkeys(offered)))


def _api_bank(row: Mapping[str, Json]) -> Read:
    said = _text(row, "expected_output" if "expected_output" in row else "output")
    if (found := _REQUEST.search(said)) is None:
        raise BrokenRow("its output is no `API-Request: [Name(key='value')]`")
    text = "\n".join(str(row[key]) for key in ("instruction", "input") if row.get(key))
    if not text.strip():
        raise BrokenRow("it needs `input`")
    yield Sample(text, (_decoded(python.decode(found["call"])),))


def _toolalpaca(row: Mapping[str, Json]) -> Read:
    match row:
        case {"Instructions": list(asked), "Golden_Answers": list(answers), **rest} if len(asked) == len(answers):
            described = rest.get("Function_Description")
            offered = [name for name in described if name != "components"] if isinstance(described, Mapping) else []
            for text, steps in zip(asked, answers, strict=True):
                if not isinstance(text, str) or not text.strip() or not isinstance(steps, list):
                    raise BrokenRow("an instruction is no text, or its answer no list")
                yield Sample(text, (tuple(map(_action, steps)),), tuple(offered))
            return
    raise BrokenRow("it needs `Instructions` and `Golden_Answers`, as many of the one as of the other")


def _action(step: Json) -> Call:
    match step:
        case {"Action": str(name), "Action_Input": given}:
            try:
                arguments = json.loads(given) if isinstance(given, str) else given
            except (ValueError, RecursionError):
                raise BrokenRow(f"the `Action_Input` of {name[:60]} is no JSON") from None
            if isinstance(arguments, Mapping):
                return Call(name, dict(arguments))
    raise BrokenRow("a step needs `Action` and `Action_Input`, an object")


def _toolbench(row: Mapping[str, Json]) -> Read:
    labels = _texts(row, "completion")
    yield Sample(_text(row, "prompt"), tuple(_decoded(toolbench.decode(label, _APIS)) for label in labels))


# They take one argument each, which programs give by position.
_APIS: Final = tuple(
    Tool(name, parameters={"type": "object", "properties": {} if name in ("search", "clear") else {"value": {}}})
    for api in (HomeSearch, Booking)
    for name in (*api.setters, *sorted(api.methods))
)


def _decoded(calls: Calls) -> Path:
    if calls.malformed is not None or not calls.calls:
        raise BrokenRow(f"its right calls cannot be read: {calls.malformed or 'there are none'}")
    return calls.calls


def _name(tool: Json, function: Json) -> str:
    return ".".join(_ODD.sub("_", str(each)).strip("_") for each in (tool, function))


def _text(row: Mapping[str, Json], key: str) -> str:
    if isinstance(text := row.get(key), str) and text.strip():
        return text.strip()
    raise BrokenRow(f"it needs `{key}`, a text")


def _texts(row: Mapping[str, Json], key: str) -> list[str]:
    listed = row.get(key)
    texts = [each for each in _items(listed) if isinstance(each, str) and each.strip()]
    if not texts or len(texts) < len(list(_items(listed))):
        raise BrokenRow(f"it needs `{key}`, a list of texts")
    return texts


def _items(value: Json) -> Iterable[Json]:
    return value if isinstance(value, list) else ()


_READERS: Final[Mapping[Format, Callable[[Mapping[str, Json]], Read]]] = MappingProxyType(
    {
        "json": _json,
        "topv2": _topv2,
        "sgd": _sgd,
        "toolqa": _toolqa,
        "toolllm": _toolllm,
        "api_bank": _api_bank,
        "toolalpaca": _toolalpaca,
        "toolbench": _toolbench,
    }
)
