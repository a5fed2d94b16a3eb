"""pydantic-evals: data sets of cases with evaluators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pytest_fcall.core.values import Json
from pytest_fcall.traces.formats.dataset_cases import (
    DatasetCase,
    ExpectedAnswer,
    RequiredCall,
    case_name,
    contains,
    literal,
    place_of,
    question_of,
)
from pytest_fcall.traces.record import Record, SkippedEntry, UnusableRecord
from pytest_fcall.traces.values import items, mapping, text

_FIRST: Final[Mapping[str, str]] = {
    "Equals": "value",
    "Contains": "value",
    "HasMatchingSpan": "query",
    "ToolCorrectness": "expected_tools",
    "TrajectoryMatch": "expected_trajectory",
    "ArgumentCorrectness": "tool_name",
    "MaxToolCalls": "max_calls",
}
"""The argument that an evaluator's name may be written with alone."""
_SAYS_NOTHING: Final = frozenset({"evaluation_name", "include_failed"})
_TOOL_ATTRIBUTE: Final = "gen_ai.tool.name"
_SPAN_NAME: Final = "execute_tool "


class _NotMapped(ValueError):
    """An evaluator has no form in a case. The text says why; an empty one that its kind is not known."""


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is a data set."""
    cases = data.get("cases")
    return isinstance(cases, list) and bool(cases) and all("inputs" in mapping(each) for each in cases)


def read(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """A record for each case, which the evaluators of the whole set judge, too."""
    for number, each in enumerate(map(mapping, items(data["cases"])), 1):
        name = case_name(each, "name")
        case = DatasetCase(place_of(each, f"{place}: {name or f'case {number}'}"), case_id=name)
        try:
            case.messages, further = question_of(each["inputs"])
        except UnusableRecord as problem:
            yield SkippedEntry(case.place, str(problem))
            continue
        if further:
            case.leave_out(f"the further inputs: {', '.join(further[:5])}")
        evaluators = [*items(data.get("evaluators")), *items(each.get("evaluators"))]
        case.expected = [_expected(case, evaluators, each.get("expected_output"))]
        yield from case.entries("pydantic-evals")


def _expected(case: DatasetCase, evaluators: Sequence[Json], output: Json) -> ExpectedAnswer:
    wanted = _Wanted()
    for evaluator in evaluators:
        name, arguments = _named(evaluator)
        try:
            _add(wanted, name, arguments, output)
        except _NotMapped as problem:
            case.leave_out(f"`{name}`{f': {problem}' if str(problem) else ''}", evaluator)
    try:
        return wanted.expected()
    except _NotMapped as problem:
        case.leave_out(str(problem))
        return ExpectedAnswer(answers=wanted.answers)


def _named(evaluator: Json) -> tuple[str, Mapping[str, Json]]:
    """The name of an evaluator and its arguments."""
    if isinstance(evaluator, str):
        return evaluator, {}
    data = mapping(evaluator)
    if data.keys() == {"name", "arguments"}:
        name, given = str(data["name"]), data["arguments"]
        given = given[0] if isinstance(given, list) and len(given) == 1 else given
    elif len(data) == 1:
        name, given = next(iter(data.items()))
    else:
        return "an evaluator without a name", {}
    if given is None:
        return name, {}
    return name, given if isinstance(given, Mapping) else {_FIRST.get(name, ""): given}


@dataclass(slots=True)
class _Wanted:
    """The requirements of the evaluators of a case together."""

    answers: list[Json] = field(default_factory=list)
    counts: Counter[str] | None = None
    """The calls of each tool."""
    allows_extra: bool = True
    """Whether other calls than these may be made."""
    sequence: list[str] | None = None
    used: list[str] = field(default_factory=list)
    """Tools that are called at least once."""
    arguments: dict[str, RequiredCall] = field(default_factory=dict)
    """The first call of a tool."""
    most: int | None = None

    def expected(self) -> ExpectedAnswer:
        """All of it. Raises _NotMapped where it has no form in a case."""
        calls = self._calls()
        others = self.allows_extra
        for tool, call in self.arguments.items():
            others = False  # another call of the tool may be the first one
            places = [number for number, each in enumerate(calls) if each.tool == tool]
            if len(places) > 1 or any((calls[number].least or 1) > 1 for number in places):
                raise _NotMapped("the arguments of one of several calls of a tool")
            if places:
                calls[places[0]] = call
            else:
                calls.append(call)
        if self.most is not None and (others or any(each.least for each in calls) or len(calls) > self.most):
            if self.most or calls:
                raise _NotMapped("`MaxToolCalls` beside calls that are not all known")
            others = False
        is_said = bool(calls) or not others
        return ExpectedAnswer(
            calls if is_said else None,
            in_order=self.sequence is not None,
            others=others and bool(calls),
            answers=self.answers,
        )

    def _calls(self) -> list[RequiredCall]:
        if self.sequence is not None:
            own = Counter(self.sequence)
            if (self.counts is not None and self.counts != own) or not own.keys() >= {*self.used, *self.arguments}:
                raise _NotMapped("a sequence of calls beside calls that are not in it")
            return [RequiredCall(tool) for tool in self.sequence]
        counts = self.counts or Counter()
        calls = [
            call
            for tool, number in counts.items()
            for call in ([RequiredCall(tool, least=number)] if self.allows_extra else [RequiredCall(tool)] * number)
        ]
        more = [tool for tool in dict.fromkeys(self.used) if tool not in counts]
        if not self.allows_extra and (more or self.arguments.keys() - counts.keys()):
            raise _NotMapped("calls that another evaluator does not allow")
        return calls + [RequiredCall(tool, least=1) for tool in more]


def _add(wanted: _Wanted, name: str, arguments: Mapping[str, Json], output: Json) -> None:
    """Add an evaluator. Raises _NotMapped."""
    given = {key: value for key, value in arguments.items() if key not in _SAYS_NOTHING}
    match name, given:
        case "EqualsExpected", {}:
            if output is not None:
                wanted.answers.append(literal(_output_text(output)))
        case "Equals", {"value": value}:
            wanted.answers.append(literal(_output_text(value)))
        case "Contains", {"value": value}:
            wanted.answers.append(contains(_output_text(value), exactly=given.get("case_sensitive") is not False))
        case "HasMatchingSpan", {"query": query}:
            wanted.used.append(_called_tool(mapping(query)))
        case "ToolCorrectness", {"expected_tools": [*tools]} if wanted.counts is None:
            wanted.counts = Counter(map(str, tools))
            wanted.allows_extra = wanted.allows_extra and given.get("allow_extra") is True
        case "TrajectoryMatch", {"expected_trajectory": [*tools]} if wanted.sequence is None:
            _add_sequence(wanted, [str(tool) for tool in tools], given.get("order"))
        case "ArgumentCorrectness", {"tool_name": str(tool), "expected_arguments": {}}:
            _add_arguments(wanted, tool, given)
        case "MaxToolCalls", {"max_calls": int(most)}:
            wanted.most = most if wanted.most is None else min(most, wanted.most)
        case _:
            raise _NotMapped


def _output_text(value: Json) -> str:
    if not isinstance(value, str) or not value:
        raise _NotMapped("an output that is no text")
    return value


def _called_tool(query: Mapping[str, Json]) -> str:
    """The tool whose call a span shows that fits the query. Raises _NotMapped for any other span."""
    attributes = mapping(query.get("has_attributes"))
    span = text(query.get("name_equals")) or ""
    tool = text(attributes.get(_TOOL_ATTRIBUTE)) or ""
    if not query.keys() <= {"name_equals", "has_attributes"} or not attributes.keys() <= {_TOOL_ATTRIBUTE}:
        raise _NotMapped("a span that is not the call of a tool")
    if tool and span in ("", "running tool", _SPAN_NAME + tool):
        return tool
    if not tool and span.startswith(_SPAN_NAME) and span != _SPAN_NAME:
        return span.removeprefix(_SPAN_NAME)
    raise _NotMapped("a span that is not the call of a tool")


def _add_sequence(wanted: _Wanted, tools: list[str], order: Json) -> None:
    """Add calls without which, or beside which, the score is less than 1."""
    if order == "any_order":
        if wanted.counts is not None and wanted.counts != Counter(tools):
            raise _NotMapped("other calls than those of `ToolCorrectness`")
        wanted.counts, wanted.allows_extra = Counter(tools), False
    else:
        wanted.sequence, wanted.allows_extra = tools, False


def _add_arguments(wanted: _Wanted, tool: str, given: Mapping[str, Json]) -> None:
    if tool in wanted.arguments or given.get("occurrence") not in (None, "first", "last", 0):
        raise _NotMapped("the arguments of one of several calls of a tool")
    is_open = given.get("match_mode") != "exact"
    wanted.arguments[tool] = RequiredCall(tool, mapping(given["expected_arguments"]), is_open=is_open)
