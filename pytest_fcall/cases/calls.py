"""Expected calls, and the check of their arguments against the schema of the tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sys import intern
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeGuard

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import one_of, quote
from pytest_fcall.cases.foreign_calls import add_fault_of_source, add_fault_of_wire
from pytest_fcall.cases.node_values import Entries, node_at
from pytest_fcall.cases.patterns import pattern, patterns
from pytest_fcall.cases.scope import Scope, check_tool_name
from pytest_fcall.cases.yaml.values import NULL, STR
from pytest_fcall.core.bounded_text import glob_matches, is_glob
from pytest_fcall.core.expectation import CallPattern, ExpectedCall, StubResult
from pytest_fcall.core.message_text import clauses, did_you_mean, nearest, quoted_path, suggestion, types_in_words
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json, is_flat_object
from pytest_fcall.schema.tool_schema import ToolSchema

if TYPE_CHECKING:
    from pytest_fcall.schema.findings import Finding

_FITTING: Mapping[str, Sequence[Json]] = MappingProxyType(
    {
        **dict.fromkeys(("regex", "text", "number", "normalised", "rouge", "date", "datetime", "json"), ("",)),
        **dict.fromkeys(("approx", "gt", "ge", "lt", "le", "between"), (0,)),
        **dict.fromkeys(("each", "unordered", "ordered"), ([],)),
    }
)
_OF_TYPE: Mapping[str, Json] = MappingProxyType(
    {"null": None, "boolean": True, "integer": 0, "number": 0, "string": "", "array": [], "object": {}}
)
_SCALARS = (str, int, float)
_CODES = {"missing_argument": "missing-argument", "unexpected_argument": "unknown-argument"}
CALL_WORDS: tuple[Literal["no_call"], Literal["any_call"]] = ("no_call", "any_call")
"""They stand in the place of a list of calls."""
KEYS_BESIDE_CALL = ("args", "returns", "returns_each", "raises", "result", "times", "as")
"""The keys that are allowed next to the name of the tool."""
_ValuePath: TypeAlias = tuple[str | int, ...]


def expected_call(node: Node, scope: Scope) -> ExpectedCall | None:
    """`tool: {arguments}` and the keys next to it; None, with a fault, if the node names no tool."""
    if isinstance(node, ScalarNode) and node.tag == STR:
        if not add_fault_of_source(node, scope):
            hint = f"write `{{{node.value[:60]}: {{}}}}` for no arguments"
            if node.value in CALL_WORDS:
                hint = f"write `{node.value}` without a list"
            scope.faults.add("wrong-type", node, "a call must be a mapping, not a string", hint)
        return None
    found = node_values.entries(node, scope.faults, "a call")
    if add_fault_of_wire(node, found, scope):
        return None
    name = _tool_name(node, found, scope)
    if name is None:
        return None
    name = intern(name)
    key, written = found.pop(name)
    is_offered = _check_tool_is_offered(key, name, scope)
    arguments = _arguments(written, name, scope)
    if is_offered and arguments is not None:
        _check_arguments(key, written, name, arguments, scope)
    if not found:
        return ExpectedCall(name, arguments)
    return ExpectedCall(
        tool=name,
        arguments=arguments,
        open=found.read("args", node_values.choice, scope.faults, "`args`", ["open"], "open") == "open",
        times=found.read("times", _times, scope) or (1, 1),
        stub=_stub_result(found, scope),
        name=found.read("as", _call_name, scope),
        result=found.read("result", pattern, scope),
    )


def call_patterns(node: Node, scope: Scope, what: str) -> tuple[CallPattern, ...]:
    """The list of `allow` or `never`: names or globs of tools, with or without arguments."""
    found = (_call_pattern(item, scope, what) for item in node_values.items(node, scope.faults, what))
    return tuple(each for each in found if each is not None)


def _tool_name(node: Node, found: Entries, scope: Scope) -> str | None:
    if len(found) == 1 and (only := next(iter(found))) in scope.offered_tools:
        return only
    names = [name for name in found if name not in KEYS_BESIDE_CALL]
    if not names:
        if isinstance(node, MappingNode):
            scope.faults.add("missing-key", node, "this call names no tool", "such as `- get_weather: {city: Oslo}`")
        return None
    tool = next((name for name in names if name in scope.offered_tools), names[0])
    for name in names:
        if name != tool:
            message = f"unexpected key {quote(name)} next to the call of {quote(tool)}"
            scope.faults.add("unknown-key", found.key(name), message, _unexpected_key_hint(name, tool, found, scope))
    return tool


def _unexpected_key_hint(name: str, tool: str, found: Entries, scope: Scope) -> str:
    schema = scope.toolbox.schema(tool)
    if name in scope.offered_tools:
        return "write each call as an item of its own"
    if schema is not None and name in schema.parameters and found[tool][1].tag == NULL:
        return f"indent arguments deeper than {quote(tool)}"
    return did_you_mean(name, KEYS_BESIDE_CALL) or f"allowed next to a call: {', '.join(KEYS_BESIDE_CALL)}"


def _check_tool_is_offered(place: Node, name: str, scope: Scope) -> bool:
    if name in scope.offered_tools:
        return True
    if scope.toolbox.is_complete and name in scope.toolbox.tools:
        hint = "look at its `tools: {only: …}` or `tools: {without: …}`"
        scope.faults.add("unknown-tool", place, f"the tool {quote(name)} is not offered to this case", hint)
    else:
        check_tool_name(place, name, scope)
    return False


def _arguments(node: Node, tool: str, scope: Scope) -> Mapping[str, Pattern] | None:
    if node.tag == NULL:
        return MappingProxyType({})
    if isinstance(node, MappingNode) and len(node.value) == 1 and node.value[0][0].value == "$ignore":
        node_values.boolean(node.value[0][1], scope.faults, "`$ignore`")
        return None
    return patterns(node, scope, f"the arguments of {quote(tool)}")


def _times(node: Node, scope: Scope) -> tuple[int, int | None]:
    if not isinstance(node, SequenceNode):
        count = node_values.integer(node, scope.faults, "`times`", least=1)
        return count, count
    ends = node_values.items(node, scope.faults, "`times`")
    if len(ends) != 2:
        scope.faults.add("wrong-value", node, "`times` must be a number, or `[fewest, most]`")
        return 1, 1
    fewest = node_values.integer(ends[0], scope.faults, "the fewest `times`", least=0)
    most = None if ends[1].tag == NULL else node_values.integer(ends[1], scope.faults, "the most `times`", least=1)
    if most is not None and most < fewest and not scope.faults:
        scope.faults.add("wrong-value", node, "in `times: [fewest, most]` the first number is larger than the second")
    return fewest, most


def _stub_result(found: Entries, scope: Scope) -> StubResult | None:
    given = [name for name in found if name in {"returns", "returns_each", "raises"}]
    if not given:
        return None
    if len(given) > 1:
        message = f"{quote(given[0])} and {quote(given[1])} exclude each other"
        scope.faults.add("contradiction", found.key(given[1]), message)
    node = found[given[0]][1]
    if given[0] == "raises":
        return StubResult(raises=node_values.text(node, scope.faults, "`raises`"))
    if given[0] == "returns":
        return StubResult((node_values.value(node, scope.faults),))
    results = node_values.items(node, scope.faults, "`returns_each`")
    if isinstance(node, SequenceNode) and not results:
        scope.faults.add("wrong-value", node, "`returns_each` is empty")
    return StubResult(tuple(node_values.value(item, scope.faults) for item in results), each=True)


def _call_name(node: Node, scope: Scope) -> str:
    name = node_values.word(node, scope.faults, "`as`")
    if name and not name.isidentifier():
        message = f"{quote(name)} is not a valid name of a call"
        scope.faults.add("wrong-value", node, message, "letters, digits and underscores only")
    if name in scope.known_calls:
        scope.faults.add("duplicate-name", node, f"another call is named {quote(name)}", "choose another name")
    return name


def _call_pattern(node: Node, scope: Scope, what: str) -> CallPattern | None:
    if isinstance(node, ScalarNode):
        return CallPattern(_tool_glob(node, scope))
    found = node_values.entries(node, scope.faults, f"each of {what}")
    if len(found) != 1:
        if isinstance(node, MappingNode):
            message = f"each of {what} must name one tool, with its arguments"
            scope.faults.add("wrong-value", node, message, "such as `transfer: {amount: {$gt: 100}}`")
        return None
    name, (key, written) = next(iter(found.items()))
    tool = _tool_glob(key, scope)
    if written.tag == NULL:
        return CallPattern(tool)
    arguments = patterns(written, scope, f"the arguments of {quote(name)}")
    _check_values(written, name, arguments, scope)
    return CallPattern(tool, arguments)


def _tool_glob(node: Node, scope: Scope) -> str:
    name = node_values.glob(node, scope.faults, "a tool name or glob")
    if name and not is_glob(name):
        check_tool_name(node, name, scope)
    return name


def _check_arguments(place: Node, node: Node, tool: str, arguments: Mapping[str, Pattern], scope: Scope) -> None:
    """Add faults for unknown and missing arguments, and for values that the schema forbids."""
    schema = scope.toolbox.schema(tool)
    if schema is None:
        return
    meant = _check_values(node, tool, arguments, scope)
    for name in sorted(schema.required.difference(arguments, meant)):
        if not any(glob_matches(rule.path, f"{tool}.{name}") for rule in scope.match_rules if rule.operator):
            hint = f"name it, or write `{name}: {{$ignore: true}}`"
            scope.faults.add("missing-argument", place, f"{quote(tool)} requires the argument {quote(name)}", hint)


def _check_values(node: Node, tool: str, arguments: Mapping[str, Pattern], scope: Scope) -> set[str]:
    """Add faults for unknown arguments and forbidden values. Returns the names that unknown arguments may stand for.

    The official checker takes a value of an undeclared type for the name of a variable. Under its profile no value
    is forbidden.
    """
    schema = scope.toolbox.schema(tool)
    if schema is None:
        return set()
    # Most calls hold nothing but plain values, and are right as a whole: to look at each argument takes longer.
    if scope.profile == "strict" and not (is_flat_object(arguments) and schema.allows(arguments)):
        checker = _Checker(tool, schema, node, scope)
        for name, expected in arguments.items():
            if name in schema.parameters:
                path = (name,)
                checker.check(path, expected, path)
    if schema.allows_more_arguments or arguments.keys() <= schema.parameters.keys():
        return set()
    return _unknown_names(node, tool, arguments, scope, schema.parameters)


def _unknown_names(
    node: Node, tool: str, arguments: Mapping[str, Pattern], scope: Scope, known: Mapping[str, object]
) -> set[str]:
    meant: set[str] = set()
    for name in arguments:
        if name not in known and not name.startswith("$"):
            likely = nearest(name, [other for other in known if other not in arguments])
            others = one_of(known) if known else "it has no arguments"
            hint = clauses("" if likely else others, scope.toolbox.lock_hint(tool), suggestion(likely))
            key = next((key for key, _ in node.value if key.value == name), node)
            scope.faults.add("unknown-argument", key, f"{quote(tool)} has no argument {quote(name)}", hint)
            meant |= {likely} if likely else set()
    return meant


class _Checker:
    """Checks an expected value against the schema. `trail` is the path of its node, which includes operators."""

    def __init__(self, tool: str, schema: ToolSchema, node: Node, scope: Scope) -> None:
        self._tool = tool
        self._schema = schema
        self._node = node
        self._scope = scope

    def check(self, path: _ValuePath, expected: Pattern, trail: _ValuePath) -> None:
        """Add faults for all that the schema forbids in an expected value at `path` of the arguments."""
        if _is_plain(expected):
            for finding in self._schema.check_at(path, expected):
                self._report(finding, path, trail)
        elif isinstance(expected, Operator):
            self._operator(path, expected, (*trail, f"${expected.name}"))
        elif isinstance(expected, Mapping):
            for name, item in expected.items():
                self.check((*path, name), item, (*trail, name))
        elif isinstance(expected, Sequence) and not isinstance(expected, str):
            for index, item in enumerate(expected):
                self.check((*path, index), item, (*trail, index))

    def _operator(self, path: _ValuePath, operator: Operator, trail: _ValuePath) -> None:
        name, operand = operator.name, operator.operand
        if self._reports_impossible_operator(path, operator, trail):
            return
        if name in {"any", "all"} and isinstance(operand, list):
            for index, item in enumerate(operand):
                self.check(path, item, (*trail, index))
        elif name in {"optional", "literal", "approx"} or (name == "not" and operand is not None):
            self.check(path, operand, trail)
        elif name == "each" or (name == "contains" and not self._is_text(path, operand)):
            self.check((*path, 0), operand, trail)
        elif name in {"unordered", "ordered", "subset"} and isinstance(operand, list):
            for index, item in enumerate(operand):
                self.check((*path, 0), item, (*trail, index))
        elif name == "subset" and isinstance(operand, Mapping):
            for key, item in operand.items():
                self.check((*path, key), item, (*trail, key))

    def _reports_impossible_operator(self, path: _ValuePath, operator: Operator, trail: _ValuePath) -> bool:
        """Add a fault if the operator matches no value that the schema allows here. Returns whether it did."""
        examples = _examples(operator)
        found = [finding for example in examples for finding in self._type_findings(path, example)]
        if unknown := [finding for finding in found if finding.kind == "unexpected_argument"]:
            self._report(unknown[0], path, trail)
        elif found and len(found) == len(examples):
            types = found[0].expected if isinstance(found[0].expected, list) else [found[0].expected]
            message = f"{quote(self._tool)}: {quoted_path(path)} must be {types_in_words(map(str, types))}"
            place = node_at(self._node, trail)
            self._scope.faults.add("forbidden-value", place, f"{message}, which `${operator.name}` can never match")
        else:
            return False
        return True

    def _is_text(self, path: _ValuePath, operand: Pattern) -> bool:
        """Whether `$contains` may be about a part of a string here, and not about an item of a list."""
        return isinstance(operand, str) and not self._type_findings(path, "")

    def _type_findings(self, path: _ValuePath, example: Json) -> list[Finding]:
        """The findings about any value of the type of `example` at this path."""
        found = self._schema.check_at(path, example)
        return [each for each in found if each.kind in {"wrong_type", "unexpected_argument"} and each.path == path]

    def _report(self, finding: Finding, path: _ValuePath, trail: _ValuePath) -> None:
        place = node_at(self._node, (*trail, *finding.path[len(path) :]))
        code = _CODES.get(finding.kind, "forbidden-value")
        self._scope.faults.add(code, place, f"{quote(self._tool)}: {finding.message}", _hint(finding, place))


def _examples(operator: Operator) -> Sequence[Json]:
    """A value of each type that an operator matches; none if it may match values of any type."""
    name, operand = operator.name, operator.operand
    if name == "type":
        wanted = operand if isinstance(operand, list) else [operand]
        return [_OF_TYPE[kind] for kind in wanted if isinstance(kind, str) and kind in _OF_TYPE]
    if name == "subset":
        return [{}] if isinstance(operand, Mapping) else [[]]
    if name == "structure":
        return [] if isinstance(operand, Operator) else [_like(operand)]
    if name == "contains":
        return ["", []] if isinstance(operand, str) else [[]]
    return _FITTING.get(name, ())


def _like(operand: Pattern) -> Json:
    """A value of the type of the operand. An integer stands for any number."""
    if isinstance(operand, Mapping):
        return {}
    if isinstance(operand, list):
        return []
    return 0 if isinstance(operand, float) or not _is_plain(operand) else operand


def _hint(finding: Finding, place: Node) -> str:
    options = finding.expected if isinstance(finding.expected, list) else [finding.expected]
    if finding.kind == "wrong_type" and "string" in options and isinstance(place, ScalarNode):
        return f'put it in quotes: "{place.value[:40]}"'
    return ""


def _is_plain(expected: Pattern) -> TypeGuard[Json]:
    """Whether it is a JSON value without an operator inside."""
    if expected is None or isinstance(expected, _SCALARS):
        return True
    if isinstance(expected, Operator):
        return False
    if isinstance(expected, Mapping):
        return all(map(_is_plain, expected.values()))
    return not isinstance(expected, list) or all(map(_is_plain, expected))
