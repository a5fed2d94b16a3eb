"""EvalView: test cases, a file each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.traces.formats.dataset_cases import (
    DatasetCase,
    ExpectedAnswer,
    RequiredCall,
    case_name,
    contains,
    user_message,
)
from pytest_fcall.traces.record import Record, SkippedEntry, UnusableRecord
from pytest_fcall.traces.request_parts import tools_of
from pytest_fcall.traces.values import PlacedMapping, items, mapping

_READ: Final = frozenset({"tools", "tool_sequence", "sequence", "forbidden_tools", "output"})
_READ_OF_OUTPUT: Final = frozenset({"contains", "not_contains", "regex_patterns"})
_WEIGHTS: Final[Mapping[str, float]] = {"tool_accuracy": 0.3, "output_quality": 0.5, "sequence_correctness": 0.2}
_SEPARATORS: Final = re.compile(r"[-_]")


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is a test case."""
    asked = isinstance(mapping(data.get("input")).get("query"), str) or any(
        "query" in mapping(turn) for turn in items(data.get("turns"))
    )
    return isinstance(data.get("name"), str) and asked and isinstance(data.get("expected"), Mapping | None)


def read(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """The record of the test case."""
    own_place = data.place if isinstance(data, PlacedMapping) and data.place else place
    tools = tools_of(data.get("tools"))
    case = DatasetCase(own_place, tools=tools, case_id=case_name(data, "name"))
    turns = [mapping(turn) for turn in items(data.get("turns"))]
    expected = mapping(data.get("expected"))
    try:
        for turn in turns or [{**mapping(data.get("input")), "expected": expected}]:
            case.messages += (user_message(turn.get("query")),)
            if turn.get("context"):
                case.leave_out("`context` of the query", turn.get("context"))
            case.expected.append(_expected(case, mapping(turn.get("expected")), data, tools))
    except UnusableRecord as problem:
        yield SkippedEntry(own_place, str(problem))
        return
    if turns:
        for name in expected:
            case.leave_out(f"`expected.{name}` of several turns together", expected)
    _add_thresholds(case, data)
    yield from case.entries("EvalView")


def _expected(
    case: DatasetCase, data: Mapping[str, Json], test: Mapping[str, Json], tools: Sequence[Tool]
) -> ExpectedAnswer:
    """The expectation of a query. Further calls do no harm there."""
    named = _names(data.get("tools"))
    mode = mapping(test.get("adapter_config")).get("sequence_mode") if _sequence(data) else "unordered"
    calls = _calls(case, data, list(dict.fromkeys(named)), is_ordered=mode != "unordered")
    expected = ExpectedAnswer(calls, in_order=mode != "unordered", others=mode != "exact")
    expected.never = [name for each in _names(data.get("forbidden_tools")) for name in _spellings(each, tools)]
    output = mapping(data.get("output"))
    expected.answers = [contains(part, exactly=False) for part in _names(output.get("contains"))]
    expected.answers += [{"$not": contains(part, exactly=False)} for part in _names(output.get("not_contains"))]
    for pattern in _names(output.get("regex_patterns")):
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError):
            case.leave_out("a pattern that Python does not read", output)
        else:
            expected.answers.append({"$regex": f"(?is:.*)(?is:{pattern})(?is:.*)"})
    for name in data.keys() - _READ:
        if data[name] not in (None, [], {}):
            case.leave_out(f"`expected.{name}`", data)
    for name in output.keys() - _READ_OF_OUTPUT:
        if output[name] not in (None, False, [], {}):
            case.leave_out(f"`expected.output.{name}`", output)
    return expected


def _names(data: Json) -> list[str]:
    return [str(each) for each in items(data)]


def _sequence(data: Mapping[str, Json]) -> list[str]:
    return _names(data.get("tool_sequence")) or _names(data.get("sequence"))


def _calls(
    case: DatasetCase, data: Mapping[str, Json], named: Sequence[str], *, is_ordered: bool
) -> list[RequiredCall] | None:
    """The calls that must be among those that are made. A sequence has no form beside calls that are not in it."""
    sequence = _sequence(data)
    if not is_ordered:
        least = Counter(dict.fromkeys(named, 1)) | Counter(sequence)
        return [RequiredCall(name, least=number) for name, number in least.items()] or None
    if missing := [name for name in named if name not in sequence]:
        case.leave_out(f"calls of {', '.join(missing)} beside those of a sequence", data)
    return [RequiredCall(name) for name in sequence]


def _spellings(name: str, tools: Sequence[Tool]) -> list[str]:
    """The tools that EvalView takes for a forbidden one: case, `-` and `_` do not count."""
    bare = _SEPARATORS.sub("", name.lower())
    return [tool.name for tool in tools if _SEPARATORS.sub("", tool.name.lower()) == bare] if tools else [name]


def _add_thresholds(case: DatasetCase, data: Mapping[str, Json]) -> None:
    """Note what the thresholds ask for beside the calls and the output."""
    thresholds = mapping(data.get("thresholds"))
    for name in thresholds.keys() - {"min_score", "weights"}:
        if thresholds[name] is not None:
            case.leave_out(f"`thresholds.{name}`", thresholds)
    weights = {**_WEIGHTS, **mapping(thresholds.get("weights"))}
    quality = weights["output_quality"]
    least = thresholds.get("min_score")
    if not isinstance(least, int | float) or not isinstance(quality, int | float) or least > 100 * (1 - quality):
        case.leave_out("`thresholds.min_score`, which counts how good a model finds the answer", thresholds)
