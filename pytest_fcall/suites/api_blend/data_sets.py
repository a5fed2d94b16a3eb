"""The data sets of API-BLEND: their notations and scores, and readers of the formats of their rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pytest_fcall.core.reply import Call, Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, is_strings
from pytest_fcall.decoding import python_calls as python
from pytest_fcall.decoding.research import api_blend, toolbench
from pytest_fcall.decoding.strict_json import NotJson, parse_json
from pytest_fcall.suites.json_files import BrokenRow, list_field, text_field
from pytest_fcall.suites.toolbench.apis import Booking, HomeSearch

DataFormat: TypeAlias = Literal["json", "topv2", "sgd", "toolqa", "toolllm", "api_bank", "toolalpaca", "toolbench"]
CallNotation: TypeAlias = Literal["json", "topv2", "sgd", "toolqa", "python", "lines"]

_NAME_SCORES: Final = ("api_f1", "lcs_f1")
_ALL_SCORES: Final = ("api_f1", "parameter_f1", "lcs_f1")


@dataclass(frozen=True, slots=True)
class DataSet:
    """One data set."""

    name: str
    format: DataFormat
    notation: CallNotation
    decoder: str
    names_only: bool = False
    """Whether the right answers have no arguments."""

    @property
    def scores(self) -> tuple[str, ...]:
        """The scores that the publication reports."""
        return _NAME_SCORES if self.names_only else _ALL_SCORES


DATA_SETS: Final[Mapping[str, DataSet]] = MappingProxyType(
    {
        each.name: each
        for each in (
            DataSet("seq_atis", "json", "json", "api_blend_atis"),
            DataSet("seq_snips", "json", "json", "api_blend_snips"),
            DataSet("seq_topv2", "topv2", "topv2", "api_blend_topv2"),
            DataSet("seq_sgd", "sgd", "sgd", "api_blend_sgd"),
            DataSet("seq_multiwoz", "sgd", "sgd", "api_blend_multiwoz"),
            DataSet("seq_toolqa", "toolqa", "toolqa", "api_blend_toolqa"),
            DataSet("toolllm_g1", "toolllm", "topv2", "api_blend_topv2", names_only=True),
            DataSet("toolllm_g2", "toolllm", "topv2", "api_blend_topv2", names_only=True),
            DataSet("toolllm_g3", "toolllm", "topv2", "api_blend_topv2", names_only=True),
            DataSet("api_bank_1", "api_bank", "python", "python"),
            DataSet("api_bank_2", "api_bank", "python", "python"),
            DataSet("toolalpaca", "toolalpaca", "json", "api_blend_atis"),
            DataSet("toolbench_home_search", "toolbench", "lines", "toolbench"),
            DataSet("toolbench_booking", "toolbench", "lines", "toolbench"),
        )
    }
)

DOMAINS: Final = (("in domain", True), ("out of domain", False))
_TRAINED_ON: Final = frozenset({"seq_atis", "seq_snips", "seq_topv2", "seq_sgd", "seq_multiwoz"})
"""The data sets with rows for training, on which the publication's own models were trained."""


def is_in_domain(data_set: str) -> bool:
    """Whether the publication counts a data set as in domain: its own models were trained on it."""
    return data_set in _TRAINED_ON


@dataclass(frozen=True, slots=True)
class SetPart:
    """A part of the suite: a data set, with demonstrations or without."""

    name: str
    shots: int = 0
    seed: str | None = None
    """The seed of a sample of demonstrations; None for the first ones."""


_DEMONSTRATED: Final = re.compile(r"(?P<name>.+)_3shot(?:@(?P<seed>\d{1,18}))?")


def set_of_part(part: str) -> SetPart:
    """Return the data set of `SET`, `SET_3shot` or `SET_3shot@SEED`."""
    found = _DEMONSTRATED.fullmatch(part)
    return SetPart(found["name"], 3, found["seed"]) if found else SetPart(part)


CallPath: TypeAlias = tuple[Call, ...]
NAMELESS_ARGUMENT: Final = "value"
"""The name of an argument without a name, as in `LoadDB[flights]`."""


class UnknownValue(str):
    """A placeholder for an unknown value, such as `${id from search}`. Any value of a model matches it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """One question with its right answers."""

    text: str
    paths: tuple[CallPath, ...]
    """The right answers, one of which is enough."""
    offered: tuple[str, ...] = ()
    """The offered functions; if empty, those of the whole data set."""


SampleRows: TypeAlias = Iterator[Sample | BrokenRow]

_NOT_IN_NAMES: Final = re.compile(r"[^\w.:-]+")
_API_REQUEST: Final = re.compile(r"API-Request:\s*(?P<call>\[.*\])", re.DOTALL)
_SEARCHER: Final = "ToolSearcher"
"""API-Bank's search for functions. API-BLEND's prompts have all functions, and its answers no such calls."""
# The published answers of ToolAlpaca have `{"id": ${id from search}}` for results of earlier calls, some with a stray
# quote or an open bracket, and for one service `"symbols": "symbols": …`.
_PLACEHOLDER: Final = re.compile(r'(?<=[:,\[])\s*"?\$\{(?P<what>[^{}",]*+)\}?"?')
_REPEATED_KEY: Final = re.compile(r'("[^"]*+":)\s*+\1')
_UNKNOWN: Final = re.compile(r"\$?\{[^{}]*+\}")
# The functions of ToolBench take one argument each, which programs give by position.
_TOOLBENCH_TOOLS: Final = tuple(
    Tool(name, parameters={"type": "object", "properties": {} if name in ("search", "clear") else {"value": {}}})
    for api in (HomeSearch, Booking)
    for name in (*api.setters, *sorted(api.methods))
)


def read_samples(kind: DataFormat, row: Json) -> SampleRows:
    """Yield the samples of a row, or the faults of single questions in it. Raises BrokenRow for an invalid row."""
    if not isinstance(row, Mapping):
        raise BrokenRow("expected a JSON object")
    return _READERS[kind](row)


def _texts_field(row: Mapping[str, Json], key: str) -> list[str]:
    listed = row.get(key)
    if is_strings(listed) and listed and all(each.strip() for each in listed):
        return listed
    raise BrokenRow(f"`{key}` must be a list of non-empty strings")


def _required_calls(calls: Calls) -> CallPath:
    """The calls of a right answer, which must have some."""
    if calls.malformed is not None or not calls.calls:
        raise BrokenRow(f"invalid right calls: {calls.malformed or 'there are none'}")
    return calls.calls


def _read_slot_lists(row: Mapping[str, Json]) -> Iterator[Sample]:
    """SeqATIS and SeqSNIPS: each slot has a list of values."""
    calls = []
    for each in list_field(row, "APIs"):
        match each:
            case {"API": str(name), "Parameters": Mapping() as given}:
                calls.append(Call(name, dict(given)))
            case _:
                raise BrokenRow("each item of `APIs` needs `API` and `Parameters`")
    yield Sample(text_field(row, "text"), (tuple(calls),))


def _read_topv2(row: Mapping[str, Json]) -> Iterator[Sample]:
    """SeqTopV2: each call is a text."""
    yield Sample(text_field(row, "input"), (_required_calls(api_blend.topv2("\n".join(_texts_field(row, "apis")))),))


def _read_sgd(row: Mapping[str, Json]) -> Iterator[Sample]:
    """SeqSGD and SeqMultiWOZ: all calls are one text."""
    yield Sample(text_field(row, "input"), (_required_calls(api_blend.sgd(text_field(row, "output"))),))


def _read_toolqa(row: Mapping[str, Json]) -> Iterator[Sample]:
    """SeqToolQA: each call is a text, some with a nameless value."""
    text = text_field(row, "question" if "question" in row else "input")
    yield Sample(text, (tuple(map(_toolqa_call, _texts_field(row, "apis"))),))


def _toolqa_call(text: str) -> Call:
    """A call: `LoadDB[DBName=flights]`, or `LoadDB[flights]` and `PythonInterpreter(…)` with a nameless argument."""
    name, found, inside = re.split(r"([\[(])", f"{text.strip()}[", maxsplit=1)[:3]
    inside = inside.removesuffix("[").strip().removesuffix("]" if found == "[" else ")")
    if not name or not inside.strip():
        return Call(name, {})
    if found == "[" and "=" in inside:
        return _required_calls(api_blend.toolqa(text.strip()))[0]
    return Call(name, {NAMELESS_ARGUMENT: inside.strip()})


def _read_toolllm(row: Mapping[str, Json]) -> Iterator[Sample]:
    """ToolLLM: names of functions alone."""
    right, listed = row.get("relevant APIs", row.get("relevant_apis")), row.get("api_list")
    if not isinstance(right, list) or not right:
        raise BrokenRow("`relevant APIs` must be a list of pairs of a tool and a function")
    if not all(isinstance(each, list) and len(each) == 2 for each in right):
        raise BrokenRow("`relevant APIs` must hold pairs only")
    offered = [
        _function_name(each.get("tool_name"), each.get("api_name"))
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, Mapping)
    ]
    calls = tuple(Call(_function_name(*each), {}) for each in right)
    yield Sample(text_field(row, "query"), (calls,), tuple(dict.fromkeys(offered)))


def _function_name(tool: Json, function: Json) -> str:
    """A valid name. As in ToolLLM, a name that begins with a digit gets `get_` before it."""
    if not isinstance(tool, str) or not isinstance(function, str):
        raise BrokenRow("the names of tools and functions must be strings")
    name = ".".join(_NOT_IN_NAMES.sub("_", each).strip("_") for each in (tool, function))
    return name if name[:1].isalpha() else f"get_{name}"


def _read_api_bank(row: Mapping[str, Json]) -> Iterator[Sample]:
    """API-Bank: the dialogue so far, and the next call."""
    output = text_field(row, "expected_output" if "expected_output" in row else "output")
    if (found := _API_REQUEST.search(output)) is None:
        raise BrokenRow("the output must be `API-Request: [Name(key='value')]`")
    text = "\n".join(str(row[key]) for key in ("instruction", "input") if row.get(key))
    if not text.strip():
        raise BrokenRow("missing `input`")
    calls = _required_calls(python.decode(found["call"]))
    if [call.name for call in calls] != [_SEARCHER]:
        yield Sample(text, (calls,))


def read_api_bank_dialogue(turns: Iterable[tuple[int, object]]) -> Iterator[tuple[int, Sample | BrokenRow]]:
    """Yield the samples of an API-Bank dialogue: for each call, the dialogue so far is the question.

    A broken turn ends the dialogue.
    """
    dialogue: list[str] = []
    for line, turn in turns:
        match turn:
            case {"role": "API", "api_name": str(name), "param_dict": Mapping() as given, **rest}:
                if name != _SEARCHER:
                    yield line, Sample("\n".join(dialogue), ((Call(name, dict(given)),),))
                dialogue.append(f"API: {name} gave {json.dumps(rest.get('result'), ensure_ascii=False)[:2_000]}")
            case {"role": str(role), "text": str(text)}:
                dialogue.append(f"{role}: {text}")
            case _:
                why = "a turn needs `role` and `text`, or `role: API`, `api_name` and `param_dict`"
                yield line, BrokenRow(why)
                return


def _read_toolbench(row: Mapping[str, Json]) -> Iterator[Sample]:
    """ToolBench: each right answer is a program."""
    labels = _texts_field(row, "completion")
    paths = tuple(_required_calls(toolbench.decode(label, _TOOLBENCH_TOOLS)) for label in labels)
    yield Sample(text_field(row, "prompt"), paths)


def _read_toolalpaca(row: Mapping[str, Json]) -> SampleRows:
    """ToolAlpaca: several questions with one right answer each. A broken question does not affect the others."""
    match row:
        case {"Instructions": list(texts), "Golden_Answers": list(answers), **rest} if len(texts) == len(answers):
            described = rest.get("Function_Description")
            offered = tuple(described) if isinstance(described, Mapping) else ()
            for text, steps in zip(texts, answers, strict=True):
                yield _question(text, steps, tuple(name for name in offered if name != "components"))
        case _:
            raise BrokenRow("it needs as many `Instructions` as `Golden_Answers`")


def _question(text: Json, steps: Json, offered: tuple[str, ...]) -> Sample | BrokenRow:
    if not isinstance(text, str) or not text.strip() or not isinstance(steps, list):
        return BrokenRow("an instruction must be a non-empty string, and its answer a list")
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
    repaired = _REPEATED_KEY.sub(r"\1", _PLACEHOLDER.sub(r'"${\g<what>}"', given))
    for text in (given, repaired):
        try:
            return parse_json(text)[0]
        except NotJson as error:
            why = error
    raise BrokenRow(f"the `Action_Input` of {name:.60} is not JSON: {why}")


def _known_or_unknown(value: Json) -> Json:
    """The value, or UnknownValue for a placeholder and for a list that holds one."""
    if isinstance(value, str) and _UNKNOWN.fullmatch(value):
        return UnknownValue(value)
    if isinstance(value, list) and any(isinstance(_known_or_unknown(each), UnknownValue) for each in value):
        return UnknownValue(", ".join(map(str, value)))
    return value


_READERS: Final[Mapping[DataFormat, Callable[[Mapping[str, Json]], SampleRows]]] = MappingProxyType(
    {
        "json": _read_slot_lists,
        "topv2": _read_topv2,
        "sgd": _read_sgd,
        "toolqa": _read_toolqa,
        "toolllm": _read_toolllm,
        "api_bank": _read_api_bank,
        "toolalpaca": _read_toolalpaca,
        "toolbench": _read_toolbench,
    }
)
