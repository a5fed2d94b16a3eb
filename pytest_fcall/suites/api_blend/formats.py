"""Readers of the row formats of the data sets: each turns a row into samples."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.reply import Call, Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.python import calls as python
from pytest_fcall.decoding.research import api_blend, toolbench
from pytest_fcall.decoding.strict_json import NotJson, parse_json
from pytest_fcall.suites.api_blend.data_sets import NAMELESS_ARGUMENT, CallPath, Format, Sample, UnknownValue
from pytest_fcall.suites.json_files import BrokenRow
from pytest_fcall.suites.toolbench.apis import Booking, HomeSearch


def text_field(row: Mapping[str, Json], key: str) -> str:
    """A text that says something."""
    if isinstance(text := row.get(key), str) and text.strip():
        return text.strip()
    raise BrokenRow(f"it needs `{key}`, a text")


def texts_field(row: Mapping[str, Json], key: str) -> list[str]:
    """A list of texts, each of which says something."""
    listed = row.get(key)
    if isinstance(listed, list) and listed and all(isinstance(each, str) and each.strip() for each in listed):
        return [str(each) for each in listed]
    raise BrokenRow(f"it needs `{key}`, a list of texts")


def required_calls(calls: Calls) -> CallPath:
    """The calls of a text, which must have some."""
    if calls.malformed is not None or not calls.calls:
        raise BrokenRow(f"its right calls cannot be read: {calls.malformed or 'there are none'}")
    return calls.calls


def read_slot_lists(row: Mapping[str, Json]) -> Iterator[Sample]:
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
    yield Sample(text_field(row, "text"), (tuple(calls),))


def read_topv2(row: Mapping[str, Json]) -> Iterator[Sample]:
    """SeqTopV2: each call is a text."""
    yield Sample(text_field(row, "input"), (required_calls(api_blend.topv2("\n".join(texts_field(row, "apis")))),))


def read_sgd(row: Mapping[str, Json]) -> Iterator[Sample]:
    """SeqSGD and SeqMultiWOZ: all calls are one text."""
    yield Sample(text_field(row, "input"), (required_calls(api_blend.sgd(text_field(row, "output"))),))


def read_toolqa(row: Mapping[str, Json]) -> Iterator[Sample]:
    """SeqToolQA: each call is a text, some with a value that has no name."""
    text = text_field(row, "question" if "question" in row else "input")
    yield Sample(text, (tuple(map(_toolqa_call, texts_field(row, "apis"))),))


def _toolqa_call(text: str) -> Call:
    """`LoadDB[DBName=flights]` as well as `LoadDB[flights]` or `PythonInterpreter(…)`, whose argument has no name."""
    name, found, inside = re.split(r"([\[(])", f"{text.strip()}[", maxsplit=1)[:3]
    inside = inside.removesuffix("[").strip().removesuffix("]" if found == "[" else ")")
    if not name or not inside.strip():
        return Call(name, {})
    if found == "[" and "=" in inside:
        return required_calls(api_blend.toolqa(text.strip()))[0]
    return Call(name, {NAMELESS_ARGUMENT: inside.strip()})


_NOT_IN_NAMES: Final = re.compile(r"[^\w.:-]+")
_API_REQUEST: Final = re.compile(r"API-Request:\s*(?P<call>\[.*\])", re.DOTALL)
_SEARCHER: Final = "ToolSearcher"
"""API-Bank's search for functions. API-BLEND tells all functions, and has no such calls."""


def read_toolllm(row: Mapping[str, Json]) -> Iterator[Sample]:
    """ToolLLM: names of functions alone."""
    right, listed = row.get("relevant APIs", row.get("relevant_apis")), row.get("api_list")
    if not isinstance(right, list) or not right:
        raise BrokenRow("it needs `query` and `relevant APIs`, pairs of a tool and a function")
    if not all(isinstance(each, list) and len(each) == 2 for each in right):
        raise BrokenRow("`relevant APIs` holds something other than pairs")
    offered = [
        _function_name(each.get("tool_name"), each.get("api_name"))
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, Mapping)
    ]
    calls = tuple(Call(_function_name(*each), {}) for each in right)
    yield Sample(text_field(row, "query"), (calls,), tuple(dict.fromkeys(offered)))


def _function_name(tool: Json, function: Json) -> str:
    """A name that is one; ToolLLM, too, puts `get_` before a digit."""
    if not isinstance(tool, str) or not isinstance(function, str):
        raise BrokenRow("the name of a tool or of a function is no text")
    name = ".".join(_NOT_IN_NAMES.sub("_", each).strip("_") for each in (tool, function))
    return name if name[:1].isalpha() else f"get_{name}"


def read_api_bank(row: Mapping[str, Json]) -> Iterator[Sample]:
    """API-Bank: what was said so far, and the call that comes next."""
    said = text_field(row, "expected_output" if "expected_output" in row else "output")
    if (found := _API_REQUEST.search(said)) is None:
        raise BrokenRow("its output is no `API-Request: [Name(key='value')]`")
    text = "\n".join(str(row[key]) for key in ("instruction", "input") if row.get(key))
    if not text.strip():
        raise BrokenRow("it needs `input`")
    calls = required_calls(python.decode(found["call"]))
    if [call.name for call in calls] != [_SEARCHER]:
        yield Sample(text, (calls,))


def read_api_bank_dialogue(turns: Iterable[tuple[int, Json]]) -> Iterator[tuple[int, Sample | BrokenRow]]:
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


def read_toolbench(row: Mapping[str, Json]) -> Iterator[Sample]:
    """ToolBench: each right answer is a program."""
    labels = texts_field(row, "completion")
    yield Sample(
        text_field(row, "prompt"), tuple(required_calls(toolbench.decode(label, _TOOLBENCH_TOOLS)) for label in labels)
    )


# They take one argument each, which programs give by position.
_TOOLBENCH_TOOLS: Final = tuple(
    Tool(name, parameters={"type": "object", "properties": {} if name in ("search", "clear") else {"value": {}}})
    for api in (HomeSearch, Booking)
    for name in (*api.setters, *sorted(api.methods))
)


# The published answers say `{"id": ${id from search}}` of what comes from elsewhere, some with a stray quote or an open
# bracket, and `"symbols": "symbols": …` of one service.
_PLACEHOLDER: Final = re.compile(r'(?<=[:,\[])\s*"?\$\{(?P<what>[^{}",]*+)\}?"?')
_REPEATED_KEY: Final = re.compile(r'("[^"]*+":)\s*+\1')
_UNKNOWN: Final = re.compile(r"\$?\{[^{}]*+\}")


def read_toolalpaca(row: Mapping[str, Json]) -> Iterator[Sample | BrokenRow]:
    """Each question with the one path that is right; one that cannot be read is no hindrance to the others."""
    match row:
        case {"Instructions": list(asked), "Golden_Answers": list(answers), **rest} if len(asked) == len(answers):
            described = rest.get("Function_Description")
            offered = tuple(described) if isinstance(described, Mapping) else ()
            for text, steps in zip(asked, answers, strict=True):
                yield _question(text, steps, tuple(name for name in offered if name != "components"))
        case _:
            raise BrokenRow("it needs `Instructions` and `Golden_Answers`, as many of the one as of the other")


def _question(text: Json, steps: Json, offered: tuple[str, ...]) -> Sample | BrokenRow:
    if not isinstance(text, str) or not text.strip() or not isinstance(steps, list):
        return BrokenRow("an instruction is no text, or its answer no list")
    try:
        return Sample(text, (tuple(map(_step_call, steps)),), offered)
    except BrokenRow as error:
        return error


def _step_call(step: Json) -> Call:
    match step:
        case {"Action": str(name), "Action_Input": given}:
            arguments = _read_input(name, given) if isinstance(given, str) else given
            if isinstance(arguments, Mapping):
                return Call(name, {key: _known_or_unknown(value) for key, value in arguments.items()})
    raise BrokenRow("a step needs `Action` and `Action_Input`, an object")


def _read_input(name: str, given: str) -> Json:
    mended = _REPEATED_KEY.sub(r"\1", _PLACEHOLDER.sub(r'"${\g<what>}"', given))
    for text in (given, mended):
        try:
            return parse_json(text)[0]
        except NotJson as error:
            why = error
    raise BrokenRow(f"the `Action_Input` of {name:.60} is no JSON: {why}")


def _known_or_unknown(value: Json) -> Json:
    """What holds something unknown is unknown as a whole."""
    if isinstance(value, str) and _UNKNOWN.fullmatch(value):
        return UnknownValue(value)
    if isinstance(value, list) and any(isinstance(_known_or_unknown(each), UnknownValue) for each in value):
        return UnknownValue(", ".join(map(str, value)))
    return value


Samples: TypeAlias = Iterator[Sample | BrokenRow]


def read_samples(kind: Format, row: Json) -> Samples:
    """Read a row, which may hold several questions. BrokenRow says what is wrong with the row, or with one of them."""
    if not isinstance(row, Mapping):
        raise BrokenRow("it is no object")
    return _READERS[kind](row)


_READERS: Final[Mapping[Format, Callable[[Mapping[str, Json]], Samples]]] = MappingProxyType(
    {
        "json": read_slot_lists,
        "topv2": read_topv2,
        "sgd": read_sgd,
        "toolqa": read_toolqa,
        "toolllm": read_toolllm,
        "api_bank": read_api_bank,
        "toolalpaca": read_toolalpaca,
        "toolbench": read_toolbench,
    }
)
