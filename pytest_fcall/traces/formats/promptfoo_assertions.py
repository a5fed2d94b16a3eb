"""promptfoo's assertions as the expectation of a case: how each is read.

An expectation may ask for more than the assertions did, never for less. An assertion that has no such form is Unmapped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from pytest_fcall.cases.yaml.values import mark_literal
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.traces.formats.promptfoo_expected import ANY_ARGUMENTS, NotMapped, PromptfooExpectation, parameters_of
from pytest_fcall.traces.formats.promptfoo_expressions import (
    OUTPUT,
    NotUnderstood,
    OutputCondition,
    OutputPart,
    comparisons_of,
    selection_of,
)
from pytest_fcall.traces.values import PlacedMapping, items, mapping, text

_VALID_CALLS: Final = ("is-valid-openai-tools-call", "is-valid-openai-function-call")
_CALL_KINDS: Final = frozenset({*_VALID_CALLS, "is-json", "tool-call-f1", "javascript"})
_ADDITIONS: Final = frozenset({"type", "value", "metric", "transform", "description"})
"""The keys of an assertion that are read, or say nothing of what must hold."""
_MOST_TOGETHER: Final = 200
"""The most assertions of one test."""


class UnmappedAssertion(NamedTuple):
    """An assertion that a case does not express."""

    place: str
    """Its file and line; empty where they are not known."""
    reason: str


class MappedAssertions(NamedTuple):
    """The keys of a case that hold it to the assertions, and the assertions that they leave out."""

    keys: dict[str, Json]
    unmapped: list[UnmappedAssertion]


def expectation_of(
    assertions: Sequence[Json],
    transform: Json,
    tools: Sequence[Tool],
    variables: Mapping[str, Json],
    filled: Callable[[str], str | None],
) -> MappedAssertions:
    """The expectation of a test; `transform` is the test's own, and `filled` puts its variables into a string."""
    expected = PromptfooExpectation({tool.name: tool for tool in tools}, transform)
    unmapped: list[UnmappedAssertion] = []
    flat = list(_flat(assertions))[:_MOST_TOGETHER]
    for assertion in flat:
        try:
            _add(expected, assertion, variables, filled)
        except (NotMapped, NotUnderstood) as problem:
            unmapped.append(_unmapped(assertion, problem))
    if expected.is_json and not expected.calls_are_made:  # of a text
        unmapped += (_unmapped(each, NotMapped()) for each in flat if each.get("type") == "is-json")
    try:
        return MappedAssertions(expected.keys(), unmapped)
    except NotMapped as problem:
        return MappedAssertions({}, [*unmapped, *(_unmapped(each, problem) for each in flat[:1])])


def _flat(assertions: Sequence[Json]) -> Iterator[Mapping[str, Json]]:
    """The assertions, with those of sets of which all must hold."""
    for each in map(mapping, assertions):
        if each.get("type") == "assert-set" and each.get("threshold") is None:
            yield from _flat(items(each.get("assert")))
        else:
            yield each


def _unmapped(assertion: Mapping[str, Json], problem: ValueError) -> UnmappedAssertion:
    kind = text(assertion.get("type")) or "an assertion without a type"
    reason = f"`{kind}`" + (f": {problem} is not understood" if isinstance(problem, NotUnderstood) else "")
    if isinstance(problem, NotMapped) and str(problem):
        reason = f"{reason}: {problem}"
    return UnmappedAssertion(assertion.place if isinstance(assertion, PlacedMapping) else "", reason)


def _add(
    expected: PromptfooExpectation,
    assertion: Mapping[str, Json],
    variables: Mapping[str, Json],
    filled: Callable[[str], str | None],
) -> None:
    """Add an assertion. Raises NotMapped and NotUnderstood."""
    kind = text(assertion.get("type")) or ""
    _check_read(assertion, kind)
    value = _filled(assertion.get("value"), filled)
    if kind in _VALID_CALLS:
        _check_untransformed(expected, assertion)
        expected.any_call = True
    elif kind == "is-json" and value is None:
        _check_untransformed(expected, assertion)
        expected.is_json = True
    elif kind == "tool-call-f1":
        _check_untransformed(expected, assertion)
        _add_only(expected, value)
    elif kind.removeprefix("not-").startswith("trajectory:"):
        _add_trajectory(expected, kind, value)
    elif kind == "javascript" and isinstance(value, str):
        _check_untransformed(expected, assertion)
        for comparison in comparisons_of(value, variables):
            _add_comparison(expected, comparison)
    else:
        operator = _operator(kind, value)
        _add_operator(expected, _selection(expected, assertion), kind, operator)


def _check_read(assertion: Mapping[str, Json], kind: str) -> None:
    """Raise NotMapped where the kind, or a key that changes what is asserted, is not known."""
    if not _is_known(kind):
        raise NotMapped
    unread = assertion.keys() - _ADDITIONS
    if assertion.get("threshold") in (None, 1):
        unread -= {"threshold"}
    if assertion.get("weight") != 0:
        unread -= {"weight"}
    if unread:
        raise NotMapped(f"its {', '.join(sorted(unread))}")


def _is_known(kind: str) -> bool:
    base = kind.removeprefix("not-")
    return (
        kind in _CALL_KINDS
        or base.startswith("trajectory:")
        or base.removesuffix("-any").removesuffix("-all") in _TEXT_OPERATORS
    )


def _filled(value: Json, filled: Callable[[str], str | None]) -> Json:
    """The value with the variables of the test."""
    if isinstance(value, str):
        if value.startswith("file://"):
            raise NotMapped("a value in another file")
        if (found := filled(value)) is None:
            raise NotMapped("a template with more than variables")
        return found
    if isinstance(value, Mapping):
        return {key: _filled(inner, filled) for key, inner in value.items()}
    return [_filled(inner, filled) for inner in value] if isinstance(value, list) else value


def _check_untransformed(expected: PromptfooExpectation, assertion: Mapping[str, Json]) -> None:
    if expected.transform is not None or assertion.get("transform") is not None:
        raise NotMapped("a `transform` before it")


def _selection(expected: PromptfooExpectation, assertion: Mapping[str, Json]) -> OutputPart:
    own = assertion.get("transform")
    if own is None and expected.transform is None:
        return OUTPUT
    if own is not None and expected.transform is not None:
        raise NotMapped("two transforms")
    written = text(own if own is not None else expected.transform)
    if written is None:
        raise NotMapped("its transform")
    return selection_of(written)


def _add_only(expected: PromptfooExpectation, value: Json) -> None:
    names = value.split(",") if isinstance(value, str) else [str(each) for each in items(value)]
    only = [name.strip() for name in names if name.strip()]
    if not only or expected.only is not None:
        raise NotMapped("its value")
    expected.only = list(dict.fromkeys(only))


def _add_comparison(expected: PromptfooExpectation, comparison: OutputCondition) -> None:
    selection, relation, value = comparison
    if selection.kind == "count":
        if relation != "equals" or not isinstance(value, int) or isinstance(value, bool) or expected.count is not None:
            raise NotMapped("the number of calls")
        expected.count = value
    else:
        if selection == OUTPUT and not isinstance(value, str):
            raise NotMapped("a comparison of the whole output")
        operator = _operator(relation, value) if isinstance(value, str) else _exactly(relation, value)
        _add_operator(expected, selection, relation, operator)


def _exactly(relation: str, value: Json) -> Json:
    if relation.removeprefix("not-") != "equals":
        raise NotMapped(f"`{relation}` of what is no text")
    return {"$not": mark_literal(value)} if relation.startswith("not-") else mark_literal(value)


def _add_operator(expected: PromptfooExpectation, selection: OutputPart, kind: str, operator: Json) -> None:
    """Let an expected value hold for a part of the output."""
    number = selection.call
    match selection.kind:
        case "output":
            expected.answers.append(operator)
        case "name" if kind == "equals" and isinstance(operator, str) and number not in expected.names:
            expected.names[number] = operator
        case "argument" if selection.path:
            name, *inner = selection.path
            arguments = expected.numbered_arguments.setdefault(number, {})
            if not isinstance(name, str) or not all(isinstance(each, str) for each in inner):
                raise NotMapped("an item of an argument that is a list")
            for key in reversed(inner):
                operator = {"$subset": {str(key): operator}}
            arguments[name] = {"$all": [arguments[name], operator]} if name in arguments else operator
        case _:
            raise NotMapped("its place")


def _operator(kind: str, value: Json) -> Json:
    """The expected value for an assertion on a text. Raises NotMapped."""
    if kind.startswith("not-"):
        return {"$not": _operator(kind.removeprefix("not-"), value)}
    if kind.endswith(("-any", "-all")) and kind.startswith(("contains", "icontains")):
        several = [each.strip() for each in value.split(",")] if isinstance(value, str) else list(items(value))
        if not several:
            raise NotMapped("its value")
        return {f"${kind[-3:]}": [_operator(kind[:-4], each) for each in several]}
    if not isinstance(value, str) or not value:
        raise NotMapped("its value")
    if (make := _TEXT_OPERATORS.get(kind)) is None:
        raise NotMapped
    return make(value)


def _regex(value: str) -> Json:
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError):
        raise NotMapped("an expression that Python does not read") from None
    return {"$regex": f"(?s:.*)(?:{value})(?s:.*)"}


_TEXT_OPERATORS: Final[Mapping[str, Callable[[str], Json]]] = {
    "equals": mark_literal,
    "contains": lambda value: {"$contains": value},
    "icontains": lambda value: {"$regex": f"(?is).*{re.escape(value)}.*"},
    "starts-with": lambda value: {"$regex": f"(?s){re.escape(value)}.*"},
    "regex": _regex,
}


def _add_trajectory(expected: PromptfooExpectation, kind: str, value: Json) -> None:
    negated, name = kind.startswith("not-"), kind.removeprefix("not-").removeprefix("trajectory:")
    match name, value:
        case "tool-used", str() | [*_] if negated:
            expected.never += _names(expected, value)
        case "tool-used", {"name": str(tool)} if negated and mapping(value).keys() == {"name"}:
            expected.never += _names(expected, tool)
        case "tool-used", str() | [*_] if not negated:
            expected.used |= {tool: max(1, expected.used.get(tool, 1)) for tool in _names(expected, value)}
        case "tool-used", {} if not negated:
            _add_counted(expected, mapping(value))
        case "tool-sequence", [*steps] if not negated:
            _add_sequence(expected, steps)
        case "tool-sequence", {"steps": [*steps]} if not negated and mapping(value).get("mode") in (None, "in_order"):
            _add_sequence(expected, steps)
        case "tool-sequence", {"steps": [*steps], "mode": "exact"} if not negated:
            _add_exact_sequence(expected, steps)
        case "tool-args-match", {} if not negated:
            _add_arguments(expected, mapping(value))
        case _:
            raise NotMapped


def _names(expected: PromptfooExpectation, value: Json) -> list[str]:
    """The tools of a value: names, or patterns that exactly one offered tool matches."""
    return [_tool_name(expected, each) for each in ([value] if isinstance(value, str) else items(value))]


def _tool_name(expected: PromptfooExpectation, step: Json) -> str:
    fields = mapping(step)
    written = text(step) or text(fields.get("name")) or text(fields.get("pattern"))
    if (
        not written
        or (fields and fields.keys() - {"name", "pattern", "type"})
        or fields.get("type") not in (None, "tool")
    ):
        raise NotMapped("a step that is not one tool")
    if "*" not in written and "?" not in written:
        return written
    matching = [name for name in expected.tools if fnmatchcase(name, written)]
    if len(matching) != 1:
        raise NotMapped(f"the pattern {written[:40]!r}, which {len(matching)} tools match")
    return matching[0]


def _add_counted(expected: PromptfooExpectation, fields: Mapping[str, Json]) -> None:
    tool = _tool_name(expected, {key: value for key, value in fields.items() if key not in ("min", "max")})
    least, most = fields.get("min", 1), fields.get("max")
    if most is not None or not isinstance(least, int) or least < 1 or (least > 1 and tool in expected.arguments):
        raise NotMapped("the most calls of a tool, or none")
    expected.used[tool] = max(least, expected.used.get(tool, 1))


def _add_sequence(expected: PromptfooExpectation, steps: Sequence[Json]) -> None:
    if expected.sequence or not steps:
        raise NotMapped("a second sequence")
    expected.sequence += (_tool_name(expected, step) for step in steps)


def _add_exact_sequence(expected: PromptfooExpectation, steps: Sequence[Json]) -> None:
    if expected.by_number:
        raise NotMapped("calls by their number together with a sequence")
    expected.names |= {number: _tool_name(expected, step) for number, step in enumerate(steps)}
    expected.count = len(steps)


def _add_arguments(expected: PromptfooExpectation, fields: Mapping[str, Json]) -> None:
    """Add a call with at least these arguments, or with exactly these."""
    tool = _tool_name(expected, {key: fields[key] for key in ("name", "pattern", "type") if key in fields})
    arguments = fields.get("args", fields.get("arguments"))
    if not isinstance(arguments, Mapping) or tool in expected.arguments or expected.used.get(tool, 1) > 1:
        raise NotMapped("arguments of a tool that is called several times")
    exact = fields.get("mode") == "exact"
    ignore = fields.get("ignore")
    patterns = [str(each) for each in ([ignore] if isinstance(ignore, str) else items(ignore))]
    wanted: dict[str, Json] = {}
    for name in parameters_of(expected.tools.get(tool)):
        if not exact or _matches_any(name, patterns):
            wanted[name] = ANY_ARGUMENTS
    for name, value in mapping(fields.get("defaults")).items():
        wanted.setdefault(name, {"$optional": mark_literal(value)})
    for name, value in arguments.items():
        wanted[name] = ANY_ARGUMENTS if _matches_any(name, patterns) else _expected_value(value, exact=exact)
    expected.arguments[tool] = wanted


def _matches_any(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _expected_value(value: Json, *, exact: bool) -> Json:
    return mark_literal(value) if exact else _at_least(value)


def _at_least(value: Json) -> Json:
    """An expected value with further keys in each mapping."""
    if isinstance(value, Mapping):
        return {"$subset": {key: _at_least(inner) for key, inner in value.items()}}
    return [_at_least(inner) for inner in value] if isinstance(value, list) else value
