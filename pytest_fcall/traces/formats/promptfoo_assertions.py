"""promptfoo's assertions as the expectation of a case.

An expectation may ask for more than the assertions did, never for less. An assertion that has no such form is Unmapped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from pytest_fcall.cases.yaml.flow_style import mark_literal
from pytest_fcall.core import Json, Tool
from pytest_fcall.traces.formats.promptfoo_expressions import (
    OUTPUT,
    Comparison,
    NotUnderstood,
    Selection,
    comparisons_of,
    selection_of,
)
from pytest_fcall.traces.values import PlacedMapping, items, mapping, text

_ANY_ARGUMENTS: Final[Json] = {"$ignore": True}
_VALID_CALLS: Final = ("is-valid-openai-tools-call", "is-valid-openai-function-call")
_CALL_KINDS: Final = frozenset({*_VALID_CALLS, "is-json", "tool-call-f1", "javascript"})
_ADDITIONS: Final = frozenset({"type", "value", "metric", "transform", "description"})
"""The keys of an assertion that are read, or say nothing of what must hold."""
_MOST_TOGETHER: Final = 200
"""The most assertions of one test."""


class Unmapped(NamedTuple):
    """An assertion that a case does not express."""

    place: str
    """Its file and line; empty where they are not known."""
    reason: str


class Expectation(NamedTuple):
    """The keys of a case that hold it to the assertions, and the assertions that they leave out."""

    keys: dict[str, Json]
    unmapped: list[Unmapped]


class _NotMapped(ValueError):
    """An assertion cannot be expressed. The text says why; an empty one that its kind is not known."""


@dataclass(slots=True)
class _Expected:
    """What the assertions of a test say together."""

    tools: Mapping[str, Tool]
    transform: Json = None
    """What the test makes of each output before it looks at it."""
    names: dict[int, str] = field(default_factory=dict)
    """The tools of single calls, by their number."""
    numbered_arguments: dict[int, dict[str, Json]] = field(default_factory=dict)
    """The arguments of single calls."""
    count: int | None = None
    used: dict[str, int] = field(default_factory=dict)
    """The tools of which calls must be among those that are made, and how many at least."""
    arguments: dict[str, Json] = field(default_factory=dict)
    """The arguments of a call that must be among those of a tool."""
    sequence: list[str] = field(default_factory=list)
    """The tools of calls that must be among those that are made, in this order."""
    only: list[str] | None = None
    """The tools that may be called, each of which must be."""
    any_call: bool = False
    never: list[Json] = field(default_factory=list)
    answers: list[Json] = field(default_factory=list)
    is_json: bool = False

    @property
    def by_number(self) -> bool:
        """Whether calls are named by their number."""
        return bool(self.names or self.numbered_arguments) or self.count is not None

    @property
    def by_tool(self) -> bool:
        """Whether calls are named by their tool."""
        return bool(self.used or self.arguments or self.sequence) or self.only is not None

    @property
    def calls_are_made(self) -> bool:
        """Whether some call must be made."""
        return self.any_call or self.by_tool or self.by_number

    def keys(self) -> dict[str, Json]:
        """The keys of the case. Raises _NotMapped where the assertions together have no form in a case."""
        if self.answers and self.calls_are_made:
            raise _NotMapped("a text that may stand in the answer as well as in its calls")
        keys: dict[str, Json] = {}
        if expect := self._expect():
            keys["expect"] = expect if expect.keys() != {"calls"} else expect["calls"]
        elif self.any_call:
            keys["expect"] = "any_call"
        if self.answers:
            keys["answer"] = self.answers[0] if len(self.answers) == 1 else {"$all": self.answers}
        return keys

    def _expect(self) -> dict[str, Json]:
        if self.by_number and self.by_tool:
            raise _NotMapped("calls by their number together with calls by their tool")
        never: dict[str, Json] = {"never": self.never} if self.never else {}
        if self.by_number:
            return {**self._numbered_calls(), **never}
        if self.by_tool:
            return {**self._called_tools(), **never}
        return {"any_of": ["any_call"], **never} if never and self.any_call else never

    def _numbered_calls(self) -> dict[str, Json]:
        """All calls, in order of their numbers. A call of which only the arguments are known has no form."""
        if {*range(len(self.names))} != self.names.keys() or not self.numbered_arguments.keys() <= self.names.keys():
            raise _NotMapped("arguments of a call whose tool is not named")
        if not self.names or self.count not in (None, len(self.names)):
            raise _NotMapped("calls whose tools are not named")
        calls: list[Json] = [
            {name: self._open_arguments(name, self.numbered_arguments.get(number, {}))}
            for number, name in sorted(self.names.items())
        ]
        return {"calls": calls, "order": "strict"} if len(calls) > 1 else {"calls": calls}

    def _open_arguments(self, tool: str, arguments: Mapping[str, Json]) -> Json:
        """Expected arguments of a call, of which others may be given, too."""
        if not arguments:
            return _ANY_ARGUMENTS
        return {**dict.fromkeys(_parameters(self.tools.get(tool)), _ANY_ARGUMENTS), **arguments}

    def _called_tools(self) -> dict[str, Json]:
        """Calls that are among those that are made, or all of them."""
        named = {*self.used, *self.arguments, *self.sequence}
        if any(self.sequence.count(tool) != 1 for tool in self.arguments if self.sequence):
            raise _NotMapped("the arguments of a call that is not one of a sequence")
        if self.sequence and ({*self.used} - {*self.sequence} or {*(self.only or named)} != named):
            raise _NotMapped("an order of some of the calls")
        if self.only is not None and not named <= {*self.only}:
            raise _NotMapped("tools that must be called, and are not among those that may be")
        calls: list[Json] = [{tool: self.arguments.get(tool, _ANY_ARGUMENTS)} for tool in self.sequence]
        if not self.sequence:
            calls += ({tool: arguments} for tool, arguments in self.arguments.items())
            least = {**dict.fromkeys(self.only or (), 1), **self.used}
            calls += (
                {tool: _ANY_ARGUMENTS, "times": [number, None]}
                for tool, number in least.items()
                if tool not in self.arguments
            )
        order: dict[str, Json] = {"order": "strict"} if len(self.sequence) > 1 else {}
        others: dict[str, Json] = {"extra": "allow"}
        if self.only is not None:
            others = {"allow": sorted(named)} if named else {}
        return {"calls": calls, **order, **others}


def _parameters(tool: Tool | None) -> Mapping[str, Json]:
    return mapping(tool.parameters.get("properties")) if tool else {}


def expectation_of(
    assertions: Sequence[Json],
    transform: Json,
    tools: Sequence[Tool],
    variables: Mapping[str, Json],
    filled: Callable[[str], str | None],
) -> Expectation:
    """The expectation of a test; `transform` is the test's own, and `filled` puts its variables into a string."""
    expected = _Expected({tool.name: tool for tool in tools}, transform)
    unmapped: list[Unmapped] = []
    flat = list(_flat(assertions))[:_MOST_TOGETHER]
    for assertion in flat:
        try:
            _add(expected, assertion, variables, filled)
        except (_NotMapped, NotUnderstood) as problem:
            unmapped.append(_unmapped(assertion, problem))
    if expected.is_json and not expected.calls_are_made:  # of a text
        unmapped += (_unmapped(each, _NotMapped()) for each in flat if each.get("type") == "is-json")
    try:
        return Expectation(expected.keys(), unmapped)
    except _NotMapped as problem:
        return Expectation({}, [*unmapped, *(_unmapped(each, problem) for each in flat[:1])])


def _flat(assertions: Sequence[Json]) -> Iterator[Mapping[str, Json]]:
    """The assertions, with those of sets of which all must hold."""
    for each in map(mapping, assertions):
        if each.get("type") == "assert-set" and each.get("threshold") is None:
            yield from _flat(items(each.get("assert")))
        else:
            yield each


def _unmapped(assertion: Mapping[str, Json], problem: ValueError) -> Unmapped:
    kind = text(assertion.get("type")) or "an assertion without a type"
    reason = f"`{kind}`" + (f": {problem} is not understood" if isinstance(problem, NotUnderstood) else "")
    if isinstance(problem, _NotMapped) and str(problem):
        reason = f"{reason}: {problem}"
    return Unmapped(assertion.place if isinstance(assertion, PlacedMapping) else "", reason)


def _add(
    expected: _Expected,
    assertion: Mapping[str, Json],
    variables: Mapping[str, Json],
    filled: Callable[[str], str | None],
) -> None:
    """Add an assertion. Raises _NotMapped and NotUnderstood."""
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
    """Raise _NotMapped where the kind, or a key that changes what is asserted, is not known."""
    if not _is_known(kind):
        raise _NotMapped
    unread = assertion.keys() - _ADDITIONS
    if assertion.get("threshold") in (None, 1):
        unread -= {"threshold"}
    if assertion.get("weight") != 0:
        unread -= {"weight"}
    if unread:
        raise _NotMapped(f"its {', '.join(sorted(unread))}")


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
            raise _NotMapped("a value in another file")
        if (found := filled(value)) is None:
            raise _NotMapped("a template with more than variables")
        return found
    if isinstance(value, Mapping):
        return {key: _filled(inner, filled) for key, inner in value.items()}
    return [_filled(inner, filled) for inner in value] if isinstance(value, list) else value


def _check_untransformed(expected: _Expected, assertion: Mapping[str, Json]) -> None:
    if expected.transform is not None or assertion.get("transform") is not None:
        raise _NotMapped("a `transform` before it")


def _selection(expected: _Expected, assertion: Mapping[str, Json]) -> Selection:
    own = assertion.get("transform")
    if own is None and expected.transform is None:
        return OUTPUT
    if own is not None and expected.transform is not None:
        raise _NotMapped("two transforms")
    written = text(own if own is not None else expected.transform)
    if written is None:
        raise _NotMapped("its transform")
    return selection_of(written)


def _add_only(expected: _Expected, value: Json) -> None:
    names = value.split(",") if isinstance(value, str) else [str(each) for each in items(value)]
    only = [name.strip() for name in names if name.strip()]
    if not only or expected.only is not None:
        raise _NotMapped("its value")
    expected.only = list(dict.fromkeys(only))


def _add_comparison(expected: _Expected, comparison: Comparison) -> None:
    selection, relation, value = comparison
    if selection.kind == "count":
        if relation != "equals" or not isinstance(value, int) or isinstance(value, bool) or expected.count is not None:
            raise _NotMapped("the number of calls")
        expected.count = value
    else:
        if selection == OUTPUT and not isinstance(value, str):
            raise _NotMapped("a comparison of the whole output")
        operator = _operator(relation, value) if isinstance(value, str) else _exactly(relation, value)
        _add_operator(expected, selection, relation, operator)


def _exactly(relation: str, value: Json) -> Json:
    if relation.removeprefix("not-") != "equals":
        raise _NotMapped(f"`{relation}` of what is no text")
    return {"$not": mark_literal(value)} if relation.startswith("not-") else mark_literal(value)


def _add_operator(expected: _Expected, selection: Selection, kind: str, operator: Json) -> None:
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
                raise _NotMapped("an item of an argument that is a list")
            for key in reversed(inner):
                operator = {"$subset": {str(key): operator}}
            arguments[name] = {"$all": [arguments[name], operator]} if name in arguments else operator
        case _:
            raise _NotMapped("its place")


def _operator(kind: str, value: Json) -> Json:
    """The expected value for an assertion on a text. Raises _NotMapped."""
    if kind.startswith("not-"):
        return {"$not": _operator(kind.removeprefix("not-"), value)}
    if kind.endswith(("-any", "-all")) and kind.startswith(("contains", "icontains")):
        several = [each.strip() for each in value.split(",")] if isinstance(value, str) else list(items(value))
        if not several:
            raise _NotMapped("its value")
        return {f"${kind[-3:]}": [_operator(kind[:-4], each) for each in several]}
    if not isinstance(value, str) or not value:
        raise _NotMapped("its value")
    if (make := _TEXT_OPERATORS.get(kind)) is None:
        raise _NotMapped
    return make(value)


def _regex(value: str) -> Json:
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError):
        raise _NotMapped("an expression that Python does not read") from None
    return {"$regex": f"(?s:.*)(?:{value})(?s:.*)"}


_TEXT_OPERATORS: Final[Mapping[str, Callable[[str], Json]]] = {
    "equals": mark_literal,
    "contains": lambda value: {"$contains": value},
    "icontains": lambda value: {"$regex": f"(?is).*{re.escape(value)}.*"},
    "starts-with": lambda value: {"$regex": f"(?s){re.escape(value)}.*"},
    "regex": _regex,
}


def _add_trajectory(expected: _Expected, kind: str, value: Json) -> None:
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
            raise _NotMapped


def _names(expected: _Expected, value: Json) -> list[str]:
    """The tools of a value: names, or patterns that exactly one offered tool matches."""
    return [_tool_name(expected, each) for each in ([value] if isinstance(value, str) else items(value))]


def _tool_name(expected: _Expected, step: Json) -> str:
    fields = mapping(step)
    written = text(step) or text(fields.get("name")) or text(fields.get("pattern"))
    if (
        not written
        or (fields and fields.keys() - {"name", "pattern", "type"})
        or fields.get("type") not in (None, "tool")
    ):
        raise _NotMapped("a step that is not one tool")
    if "*" not in written and "?" not in written:
        return written
    matching = [name for name in expected.tools if fnmatchcase(name, written)]
    if len(matching) != 1:
        raise _NotMapped(f"the pattern {written[:40]!r}, which {len(matching)} tools match")
    return matching[0]


def _add_counted(expected: _Expected, fields: Mapping[str, Json]) -> None:
    tool = _tool_name(expected, {key: value for key, value in fields.items() if key not in ("min", "max")})
    least, most = fields.get("min", 1), fields.get("max")
    if most is not None or not isinstance(least, int) or least < 1 or (least > 1 and tool in expected.arguments):
        raise _NotMapped("the most calls of a tool, or none")
    expected.used[tool] = max(least, expected.used.get(tool, 1))


def _add_sequence(expected: _Expected, steps: Sequence[Json]) -> None:
    if expected.sequence or not steps:
        raise _NotMapped("a second sequence")
    expected.sequence += (_tool_name(expected, step) for step in steps)


def _add_exact_sequence(expected: _Expected, steps: Sequence[Json]) -> None:
    if expected.by_number:
        raise _NotMapped("calls by their number together with a sequence")
    expected.names |= {number: _tool_name(expected, step) for number, step in enumerate(steps)}
    expected.count = len(steps)


def _add_arguments(expected: _Expected, fields: Mapping[str, Json]) -> None:
    """Add a call with at least these arguments, or with exactly these."""
    tool = _tool_name(expected, {key: fields[key] for key in ("name", "pattern", "type") if key in fields})
    arguments = fields.get("args", fields.get("arguments"))
    if not isinstance(arguments, Mapping) or tool in expected.arguments or expected.used.get(tool, 1) > 1:
        raise _NotMapped("arguments of a tool that is called several times")
    exact = fields.get("mode") == "exact"
    ignore = fields.get("ignore")
    patterns = [str(each) for each in ([ignore] if isinstance(ignore, str) else items(ignore))]
    wanted: dict[str, Json] = {}
    for name in _parameters(expected.tools.get(tool)):
        if not exact or _matches_any(name, patterns):
            wanted[name] = _ANY_ARGUMENTS
    for name, value in mapping(fields.get("defaults")).items():
        wanted.setdefault(name, {"$optional": mark_literal(value)})
    for name, value in arguments.items():
        wanted[name] = _ANY_ARGUMENTS if _matches_any(name, patterns) else _expected_value(value, exact=exact)
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
