"""Expected calls, checked against the schema of their tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeGuard

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import closest, did_you_mean, one_of, shown
from pytest_fcall.cases.node_values import Entries, glob, node_at
from pytest_fcall.cases.patterns import pattern, patterns
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.yaml.tags import NULL, STR
from pytest_fcall.core import CallPattern, CannedResult, ExpectedCall, Json, Operator, Pattern
from pytest_fcall.core.glob import glob_matches, is_glob
from pytest_fcall.schema.findings import Finding
from pytest_fcall.schema.value_text import place as written
from pytest_fcall.schema.value_text import types_in_words

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
_CODES = {"missing_argument": "missing-argument", "unexpected_argument": "unknown-argument"}


def check_arguments(place: Node, node: Node, tool: str, arguments: Mapping[str, Pattern], scope: Scope) -> None:
    """Note unknown and missing arguments, and values that the schema forbids."""
    schema = scope.toolbox.schema(tool)
    if schema is None:
        return
    meant = check_values(node, tool, arguments, scope)
    for name in sorted(schema.required - arguments.keys() - meant):
        if not any(glob_matches(rule.path, f"{tool}.{name}") for rule in scope.match if rule.operator):
            hint = f"name it, or write `{name}: {{$ignore: true}}`"
            scope.faults.add("missing-argument", place, f"{shown(tool)} requires the argument {shown(name)}", hint)


def check_values(node: Node, tool: str, arguments: Mapping[str, Pattern], scope: Scope) -> set[str]:
    """Note unknown arguments, and values that the schema forbids. Gives the names that were probably meant.

    To the official checker a value of another type than the declared one is the name of a variable, so that under its
    profile no value is forbidden.
    """
    schema = scope.toolbox.schema(tool)
    if schema is None:
        return set()
    checker = _Checker(tool, node, scope)
    for name, expected in arguments.items() if scope.profile == "strict" else ():  # else it may name a variable
        if name in schema.parameters:
            checker.check((name,), expected, (name,))
    return set() if schema.open else _unknown_names(node, tool, arguments, scope, schema.parameters)


def _unknown_names(
    node: Node, tool: str, arguments: Mapping[str, Pattern], scope: Scope, known: Mapping[str, object]
) -> set[str]:
    meant: set[str] = set()
    for name in arguments:
        if name not in known and not name.startswith("$"):
            likely = closest(name, [other for other in known if other not in arguments])
            hint = f"did you mean {shown(likely)}?" if likely else _others(known)
            scope.faults.add("unknown-argument", _key(node, name), f"{shown(tool)} has no argument {shown(name)}", hint)
            meant |= {likely} if likely else set()
    return meant


class _Checker:
    """Walks an expected value; `trail` leads to the same place through the nodes, operators included."""

    def __init__(self, tool: str, node: Node, scope: Scope) -> None:
        self._tool = tool
        self._node = node
        self._scope = scope

    def check(self, path: tuple[str | int, ...], expected: Pattern, trail: tuple[str | int, ...]) -> None:
        if isinstance(expected, Operator):
            self._operator(path, expected, (*trail, f"${expected.name}"))
        elif _is_plain(expected):
            self._literal(path, expected, trail)
        elif isinstance(expected, Mapping):
            for name, item in expected.items():
                self.check((*path, name), item, (*trail, name))
        elif isinstance(expected, Sequence) and not isinstance(expected, str):
            for index, item in enumerate(expected):
                self.check((*path, index), item, (*trail, index))

    def _operator(self, path: tuple[str | int, ...], operator: Operator, trail: tuple[str | int, ...]) -> None:
        name, operand = operator.name, operator.operand
        if self._never_fits(path, operator, trail):
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

    def _never_fits(self, path: tuple[str | int, ...], operator: Operator, trail: tuple[str | int, ...]) -> bool:
        """Note an operator on values of a type that the schema does not let in, or where it lets in nothing."""
        examples = _examples(operator)
        found = [finding for example in examples for finding in self._against(path, example)]
        if unknown := [finding for finding in found if finding.kind == "unexpected_argument"]:
            self._note(unknown[0], path, trail)
        elif found and len(found) == len(examples):
            types = found[0].expected if isinstance(found[0].expected, list) else [found[0].expected]
            message = f"{shown(self._tool)}: {written(path)} must be {types_in_words(map(str, types))}"
            place = node_at(self._node, trail)
            self._scope.faults.add("forbidden-value", place, f"{message}, and `${operator.name}` never fits that")
        else:
            return False
        return True

    def _is_text(self, path: tuple[str | int, ...], operand: Pattern) -> bool:
        """Whether `$contains` may be about a part of a text here, and not about an item of a list."""
        return isinstance(operand, str) and not self._against(path, "")

    def _against(self, path: tuple[str | int, ...], example: Json) -> list[Finding]:
        """What the schema has against any value of this type at this place."""
        found = self._scope.toolbox.check(self._tool, path, example)
        return [each for each in found if each.kind in {"wrong_type", "unexpected_argument"} and each.path == path]

    def _literal(self, path: tuple[str | int, ...], value: Json, trail: tuple[str | int, ...]) -> None:
        for finding in self._scope.toolbox.check(self._tool, path, value):
            self._note(finding, path, trail)

    def _note(self, finding: Finding, path: tuple[str | int, ...], trail: tuple[str | int, ...]) -> None:
        place = node_at(self._node, (*trail, *finding.path[len(path) :]))
        code = _CODES.get(finding.kind, "forbidden-value")
        self._scope.faults.add(code, place, f"{shown(self._tool)}: {finding.message}", _hint(finding, place))


def _examples(operator: Operator) -> Sequence[Json]:
    """A value of each type that an operator fits; none where it may fit values of any."""
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
    """A value that may have the structure of the operand; every integer may stand for a number."""
    if isinstance(operand, Mapping):
        return {}
    if isinstance(operand, list):
        return []
    return 0 if isinstance(operand, float) or not _is_plain(operand) else operand


def _hint(finding: Finding, place: Node) -> str:
    options = finding.expected if isinstance(finding.expected, list) else [finding.expected]
    if finding.kind == "wrong_type" and "string" in options and isinstance(place, ScalarNode):
        return f'put it in quotes: "{place.value[:40]}"'
    asked = finding.path[-1] if finding.kind == "unexpected_argument" else finding.got
    return did_you_mean(str(asked), [option for option in options if isinstance(option, str)])


def _others(parameters: Mapping[str, object]) -> str:
    return one_of(parameters) if parameters else "it takes none"


def _is_plain(expected: Pattern) -> TypeGuard[Json]:
    """Whether it is a value, with no operator anywhere inside."""
    if isinstance(expected, Operator):
        return False
    if isinstance(expected, Mapping):
        return all(map(_is_plain, expected.values()))
    return not isinstance(expected, list) or all(map(_is_plain, expected))


def _key(node: Node, name: str) -> Node:
    pairs: list[tuple[Node, Node]] = node.value if isinstance(node, MappingNode) else []
    return next((key for key, _ in pairs if key.value == name), node)


KEYS_BESIDE_CALL = ("args", "returns", "returns_each", "raises", "result", "times", "as")
"""What may stand beside a call."""


def expected_call(node: Node, scope: Scope) -> ExpectedCall | None:
    """`tool: {arguments}` and what stands beside it."""
    if isinstance(node, ScalarNode) and node.tag == STR:
        scope.faults.add("wrong-type", node, "a call is a mapping", f"write `- {node.value[:60]}:` for no arguments")
        return None
    found = node_values.entries(node, scope.faults, "a call")
    name = _tool_name(node, found, scope)
    if name is None:
        return None
    key, written = found.pop(name)
    known = check_tool_is_offered(key, name, scope)
    arguments = _arguments(written, name, scope)
    is_open = "args" in found and node_values.choice(found["args"][1], scope.faults, "`args`", ["open"]) == "open"
    if known and arguments is not None:
        check_arguments(key, written, name, arguments, scope)
    return ExpectedCall(
        tool=name,
        arguments=arguments,
        open=is_open,
        times=_times(found["times"][1], scope) if "times" in found else (1, 1),
        canned=_canned(found, scope),
        name=_call_name(found["as"][1], scope) if "as" in found else None,
        result=pattern(found["result"][1], scope) if "result" in found else None,
    )


def call_patterns(node: Node, scope: Scope, what: str) -> tuple[CallPattern, ...]:
    """The list behind `allow` and `never`."""
    found = (_call_pattern(item, scope, what) for item in node_values.items(node, scope.faults, what))
    return tuple(one for one in found if one is not None)


def check_tool_is_offered(place: Node, name: str, scope: Scope) -> bool:
    """Whether the case is offered this tool; a fault if it surely is not."""
    if name in scope.offered:
        return True
    if not scope.toolbox.complete:
        return False
    if name in scope.toolbox.tools:
        hint = "look at its `tools: {only: …}` or `tools: {without: …}`"
        scope.faults.add("unknown-tool", place, f"the tool {shown(name)} is not offered to this case", hint)
        return False
    hint = did_you_mean(name, scope.offered) if scope.toolbox.tools else "the file has no tools: give it `tools:`"
    scope.faults.add("unknown-tool", place, f"there is no tool {shown(name)}", hint)
    return False


def _tool_name(node: Node, found: Entries, scope: Scope) -> str | None:
    names = [name for name in found if name not in KEYS_BESIDE_CALL]
    if not names:
        if len(found) == 1 and (only := next(iter(found))) in scope.offered:
            return only
        if isinstance(node, MappingNode):
            scope.faults.add("missing-key", node, "this call names no tool", "such as `- get_weather: {city: Oslo}`")
        return None
    tool = next((name for name in names if name in scope.offered), names[0])
    for name in names:
        if name != tool:
            message = f"{shown(name)} may not stand beside the call of {shown(tool)}"
            scope.faults.add("unknown-key", found[name][0], message, _beside_hint(name, tool, found, scope))
    return tool


def _beside_hint(name: str, tool: str, found: Entries, scope: Scope) -> str:
    schema = scope.toolbox.schema(tool)
    if name in scope.offered:
        return "one call an item: begin it with `- `"
    if schema is not None and name in schema.parameters and found[tool][1].tag == NULL:
        return f"arguments are indented deeper than {shown(tool)}"
    return did_you_mean(name, KEYS_BESIDE_CALL) or f"beside a call may stand: {', '.join(KEYS_BESIDE_CALL)}"


def _arguments(node: Node, tool: str, scope: Scope) -> Mapping[str, Pattern] | None:
    if node.tag == NULL:
        return MappingProxyType({})
    if isinstance(node, MappingNode) and len(node.value) == 1 and node.value[0][0].value == "$ignore":
        node_values.boolean(node.value[0][1], scope.faults, "`$ignore`")
        return None
    return patterns(node, scope, f"the arguments of {shown(tool)}")


def _times(node: Node, scope: Scope) -> tuple[int, int | None]:
    if not isinstance(node, SequenceNode):
        count = node_values.integer(node, scope.faults, "`times`", least=1)
        return count, count
    ends = node_values.items(node, scope.faults, "`times`")
    if len(ends) != 2:
        scope.faults.add("wrong-value", node, "`times` is a number, or `[fewest, most]`")
        return 1, 1
    fewest = node_values.integer(ends[0], scope.faults, "the fewest `times`", least=0)
    most = None if ends[1].tag == NULL else node_values.integer(ends[1], scope.faults, "the most `times`", least=1)
    if most is not None and most < fewest and not scope.faults.found:
        scope.faults.add("wrong-value", node, "the most `times` are fewer than the fewest")
    return fewest, most


def _canned(found: Entries, scope: Scope) -> CannedResult | None:
    given = [name for name in found if name in {"returns", "returns_each", "raises"}]
    if not given:
        return None
    if len(given) > 1:
        key = found[given[1]][0]
        scope.faults.add("contradiction", key, f"{shown(given[0])} and {shown(given[1])} exclude each other")
    node = found[given[0]][1]
    if given[0] == "raises":
        return CannedResult(raises=node_values.text(node, scope.faults, "`raises`"))
    if given[0] == "returns":
        return CannedResult((node_values.value(node, scope.faults),))
    results = node_values.items(node, scope.faults, "`returns_each`")
    if isinstance(node, SequenceNode) and not results:
        scope.faults.add("wrong-value", node, "this `returns_each` is empty, so that nothing is returned")
    return CannedResult(tuple(node_values.value(item, scope.faults) for item in results), each=True)


def _call_name(node: Node, scope: Scope) -> str:
    name = node_values.word(node, scope.faults, "`as`")
    if name and not name.isidentifier():
        scope.faults.add("wrong-value", node, f"{shown(name)} cannot be a name", "letters, digits and underscores only")
    if name in scope.names:
        scope.faults.add("duplicate-name", node, f"another call is named {shown(name)}", "take another name")
    return name


def _call_pattern(node: Node, scope: Scope, what: str) -> CallPattern | None:
    if isinstance(node, ScalarNode):
        return CallPattern(_tool_glob(node, scope))
    found = node_values.entries(node, scope.faults, f"each of {what}")
    if len(found) != 1:
        if isinstance(node, MappingNode):
            hint = "such as `transfer: {amount: {$gt: 100}}`"
            scope.faults.add("wrong-value", node, "this must name one tool, with its arguments", hint)
        return None
    name, (key, written) = next(iter(found.items()))
    tool = _tool_glob(key, scope)
    if written.tag == NULL:
        return CallPattern(tool)
    arguments = patterns(written, scope, f"the arguments of {shown(name)}")
    check_values(written, name, arguments, scope)
    return CallPattern(tool, arguments)


def _tool_glob(node: Node, scope: Scope) -> str:
    name = glob(node, scope.faults, "a tool name or glob")
    toolbox = scope.toolbox
    if name and not is_glob(name) and toolbox.complete and name not in toolbox.tools:
        scope.faults.add("unknown-tool", node, f"there is no tool {shown(name)}", did_you_mean(name, toolbox.tools))
    return name
