"""deepeval: goldens and test cases, of single requests and of conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from pytest_fcall.core.values import Json
from pytest_fcall.traces.formats.dataset_cases import (
    DatasetCase,
    ExpectedAnswer,
    RequiredCall,
    arguments_of,
    case_name,
    user_message,
)
from pytest_fcall.traces.record import Record, SkippedEntry, UnusableRecord
from pytest_fcall.traces.values import first_field, items, mapping, parse_json_text, text

_LISTS: Final = ("goldens", "conversational_goldens", "test_cases", "testCases", "conversationalTestCases")
_MARKS: Final = frozenset(
    {"expected_tools", "expectedTools", "tools_called", "toolsCalled", "actual_output", "actualOutput"}
    | {"expected_output", "expectedOutput", "retrieval_context", "retrievalContext", "custom_column_key_values"}
)
_MARKS_OF_CONVERSATIONS: Final = frozenset(
    {"expected_outcome", "expectedOutcome", "user_description", "userDescription", "persona", "turns"}
)
_JUDGED: Final = {
    "expected_output": "`expected_output`, which a metric of your code compares",
    "expectedOutput": "`expectedOutput`, which a metric of your code compares",
    "expected_outcome": "`expected_outcome`, which a model judges",
    "expectedOutcome": "`expectedOutcome`, which a model judges",
    "expectations": "`expectations`",
    "expected_labels": "`expected_labels`",
    "expectedLabels": "`expectedLabels`",
}
"""Fields that a metric compares with the answer."""


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is a golden, a test case, or a file of them."""
    return _is_case(data) or any(
        isinstance(data.get(name), list) and any(_is_case(mapping(each)) for each in items(data[name]))
        for name in _LISTS
    )


def _is_case(data: Mapping[str, Json]) -> bool:
    if "scenario" in data or isinstance(parse_json_text(data.get("turns")), list):
        turns = [mapping(turn) for turn in items(parse_json_text(data.get("turns")))]
        fits = all({"role", "content"} <= turn.keys() for turn in turns)
        return fits and (bool(turns) or bool(data.keys() & _MARKS_OF_CONVERSATIONS))
    return isinstance(data.get("input"), str) and bool(data.keys() & _MARKS)


def read(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """A record for each golden and test case."""
    if _is_case(data):
        yield from _case_entries(data, place)
        return
    for name in _LISTS:
        for number, each in enumerate(items(data.get(name)), 1):
            yield from _case_entries(mapping(each), f"{place}: {name} {number}")


def _case_entries(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    case = DatasetCase(place, case_id=case_name(data, "name"))
    try:
        if "input" in data:
            _add_request(case, data)
        else:
            _add_turns(case, [mapping(turn) for turn in items(parse_json_text(data.get("turns")))])
    except UnusableRecord as problem:
        yield SkippedEntry(place, str(problem))
        return
    for name, reason in _JUDGED.items():
        if data.get(name) not in (None, "", [], {}):
            case.leave_out(reason, data)
    yield from case.entries("deepeval")


def _add_request(case: DatasetCase, data: Mapping[str, Json]) -> None:
    """Add what is said, and the expected calls; without these those that were made, which is what a log holds."""
    case.messages = (user_message(data.get("input")),)
    expected = next((data[name] for name in ("expected_tools", "expectedTools") if data.get(name) is not None), None)
    if expected is None:
        expected = first_field(data, "tools_called", "toolsCalled")
    case.expected = [ExpectedAnswer(_calls(expected))]


def _calls(data: Json) -> list[RequiredCall] | None:
    """The calls of a list of tools. Their results, which metrics compare only on demand, are left out."""
    value = parse_json_text(data)
    if value is None:
        return None
    calls = []
    for each in map(mapping, items(value)):
        name = text(each.get("name"))
        if name is None:
            raise UnusableRecord("an expected tool has no name")
        given = next((each[key] for key in ("input_parameters", "inputParameters") if key in each), None)
        calls.append(RequiredCall(name, arguments_of(given)))
    return calls


def _add_turns(case: DatasetCase, turns: list[Mapping[str, Json]]) -> None:
    """Add what the user says in each turn, and what was called then."""
    if not turns:
        raise UnusableRecord("a conversational golden without turns describes a user, whose words are not in the file")
    starts = [number for number, turn in enumerate(turns) if turn.get("role") == "user"]
    if not starts or starts[0] != 0:
        raise UnusableRecord("the conversation does not begin with the user")
    for start, end in pairwise((*starts, len(turns))):
        case.messages += (user_message(turns[start].get("content")),)
        called = [first_field(turn, "tools_called", "toolsCalled") for turn in turns[start + 1 : end]]
        calls = [call for each in called for call in _calls(each) or ()]
        case.expected.append(ExpectedAnswer(calls or None))
