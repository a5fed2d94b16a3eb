"""Evaluation sets of Google's ADK: `eval_cases`, and the older lists of `query` and `expected_tool_use`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pytest_fcall.core.files import read_regular
from pytest_fcall.core.values import Json
from pytest_fcall.traces.formats.dataset_cases import (
    DatasetCase,
    ExpectedAnswer,
    RequiredCall,
    arguments_of,
    case_name,
    user_message,
)
from pytest_fcall.traces.record import Record, SkippedEntry, UnreadableTrace, UnusableRecord
from pytest_fcall.traces.values import document_value, items, mapping, text

_CONFIGURATION: Final = "test_config.json"
_CRITERIA: Final = "fcall:criteria"
_TRAJECTORY: Final = "tool_trajectory_avg_score"
_RESPONSE: Final = ("response_match_score", "final_response_match_v2")
"""The criteria that compare the final response with the one in the file."""
_DEFAULT_CRITERIA: Final[Mapping[str, Json]] = {_TRAJECTORY: 1.0, "response_match_score": 0.8}


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is an evaluation set, or a session of the older form."""
    if any(isinstance(data.get(name), list) for name in ("eval_cases", "evalCases")):
        return True
    rows = data.get("data")
    return isinstance(rows, list) and bool(rows) and all(_is_row(row) for row in rows)


def session_of_rows(rows: Sequence[Json]) -> Mapping[str, Json] | None:
    """The session that a list of rows of the oldest form is."""
    return {"data": rows} if rows and all(_is_row(row) for row in rows) else None


def _is_row(row: Json) -> bool:
    data = mapping(row)
    return isinstance(data.get("query"), str) and bool(data.keys() & {"expected_tool_use", "reference"})


def with_files(data: Mapping[str, Json], folder: Path) -> Mapping[str, Json]:
    """The document with the criteria of the configuration beside it, which ADK reads with it."""
    path = folder / _CONFIGURATION
    if not path.is_file():
        return data
    try:
        configuration = mapping(document_value(read_regular(path), path.name))
    except (UnreadableTrace, OSError):
        raise UnusableRecord(f"{_CONFIGURATION} beside it, which says how it is compared, cannot be read") from None
    return {**data, _CRITERIA: configuration.get("criteria") or dict(_DEFAULT_CRITERIA)}


def read(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """A record for each evaluation case."""
    criteria = mapping(data.get(_CRITERIA, _DEFAULT_CRITERIA))
    cases = _field(data, "eval_cases")
    for number, each in enumerate(map(mapping, items(cases) if cases is not None else (data,)), 1):
        name = case_name(each, "eval_id", "evalId", "name")
        case = DatasetCase(f"{place}: {name or f'case {number}'}", case_id=name)
        try:
            if "data" in each:
                _add_rows(case, each, criteria)
            else:
                _add_invocations(case, each, criteria)
        except UnusableRecord as problem:
            yield SkippedEntry(case.place, str(problem))
        else:
            yield from case.entries("ADK")


def _field(data: Mapping[str, Json], name: str) -> Json:
    """A field, whose name is written in snake_case or in camelCase."""
    head, *rest = name.split("_")
    return data[name] if name in data else data.get(head + "".join(part.capitalize() for part in rest))


def _add_rows(case: DatasetCase, data: Mapping[str, Json], criteria: Mapping[str, Json]) -> None:
    """Add a session of the older form."""
    for row in map(mapping, items(data["data"])):
        uses = [mapping(each) for each in items(row.get("expected_tool_use"))]
        calls = [_call(each.get("tool_name"), each.get("tool_input")) for each in uses]
        _add_turn(case, text(row.get("query")) or "", calls, text(row.get("reference")) or "", criteria)
    _add_session(case, mapping(data.get("initial_session")), criteria)


def _add_invocations(case: DatasetCase, data: Mapping[str, Json], criteria: Mapping[str, Json]) -> None:
    conversation = [mapping(each) for each in items(_field(data, "conversation"))]
    if not conversation:
        raise UnusableRecord("what the user says is made by a simulation, and not written in the file")
    for each in conversation:
        calls = list(_expected_calls(mapping(_field(each, "intermediate_data"))))
        prompt, response = _content_texts(_field(each, "user_content")), _content_texts(_field(each, "final_response"))
        if None in prompt:
            raise UnusableRecord("the user sends more than text")
        _add_turn(case, "\n".join(filter(None, prompt)), calls, "".join(filter(None, response)), criteria)
        if _field(each, "rubrics"):
            case.leave_out("`rubrics`, which a model judges")
    if _field(data, "rubrics"):
        case.leave_out("`rubrics`, which a model judges")
    if _field(data, "final_session_state"):
        case.leave_out("`final_session_state`")
    _add_session(case, mapping(_field(data, "session_input")), criteria)


def _add_session(case: DatasetCase, session: Mapping[str, Json], criteria: Mapping[str, Json]) -> None:
    """Note what holds for the whole case and has no form in it."""
    if session.get("state"):
        case.leave_out("the state that its session begins with")
    for name in criteria:
        if name != _TRAJECTORY and name not in _RESPONSE:
            case.leave_out(f"the criterion `{name}`")


def _add_turn(
    case: DatasetCase, prompt: str, calls: Sequence[RequiredCall], response: str, criteria: Mapping[str, Json]
) -> None:
    """Add what the user says, and what is expected of the answer."""
    case.messages += (user_message(prompt),)
    case.expected.append(_expected(calls, mapping(criteria.get(_TRAJECTORY))))
    for name in _RESPONSE:
        if response.strip() and name in criteria:
            case.leave_out(f"the final response, which `{name}` compares")


def _expected(calls: Sequence[RequiredCall], criterion: Mapping[str, Json]) -> ExpectedAnswer:
    """The expectation of one invocation. Without more, calls are these, in this order, and no others."""
    if _field(criterion, "ignore_args") is True:
        calls = [call._replace(arguments=None) for call in calls]
    kind = _field(criterion, "match_type")
    if kind in (1, 2):  # ADK writes the type by its name, or by its number
        kind = "IN_ORDER" if kind == 1 else "ANY_ORDER"
    return ExpectedAnswer(calls, in_order=kind != "ANY_ORDER", others=kind in ("IN_ORDER", "ANY_ORDER"))


def _expected_calls(data: Mapping[str, Json]) -> Iterator[RequiredCall]:
    for use in map(mapping, items(_field(data, "tool_uses"))):
        yield _call(use.get("name"), use.get("args"))
    for event in map(mapping, items(_field(data, "invocation_events"))):
        for part in map(mapping, items(mapping(event.get("content")).get("parts"))):
            if call := mapping(_field(part, "function_call")):
                yield _call(call.get("name"), call.get("args"))


def _call(name: Json, arguments: Json) -> RequiredCall:
    if not isinstance(name, str) or not name:
        raise UnusableRecord("an expected call has no name")
    return RequiredCall(name, arguments_of(arguments) or {})


def _content_texts(data: Json) -> list[str | None]:
    """The text of each part of a content; None for a part that is none."""
    return [text(mapping(part).get("text")) for part in items(mapping(data).get("parts"))]
