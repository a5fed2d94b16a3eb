"""One expected call, and patterns that name calls."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import fields
from pytest_fcall.cases.arguments import check_arguments, check_values
from pytest_fcall.cases.faults import did_you_mean, shown
from pytest_fcall.cases.fields import Entries
from pytest_fcall.cases.globs import glob
from pytest_fcall.cases.patterns import pattern, patterns
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.yaml.tags import NULL, STR
from pytest_fcall.core import CallPattern, Canned, ExpectedCall, Pattern
from pytest_fcall.core.glob import is_glob

BESIDE = ("args", "returns", "returns_each", "raises", "result", "times", "as")
"""What may stand beside a call."""


def expected_call(node: Node, scope: Scope) -> ExpectedCall | None:
    """`tool: {arguments}` and what stands beside it."""
    if isinstance(node, ScalarNode) and node.tag == STR:
        scope.faults.add("wrong-type", node, "a call is a mapping", f"write `- {node.value[:60]}:` for no arguments")
        return None
    found = fields.entries(node, scope.faults, "a call")
    name = _tool_name(node, found, scope)
    if name is None:
        return None
    key, written = found.pop(name)
    known = known_tool(key, name, scope)
    arguments = _arguments(written, name, scope)
    is_open = "args" in found and fields.choice(found["args"][1], scope.faults, "`args`", ["open"]) == "open"
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
    found = (_call_pattern(item, scope, what) for item in fields.items(node, scope.faults, what))
    return tuple(one for one in found if one is not None)


def known_tool(place: Node, name: str, scope: Scope) -> bool:
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
    names = [name for name in found if name not in BESIDE]
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
    return did_you_mean(name, BESIDE) or f"beside a call may stand: {', '.join(BESIDE)}"


def _arguments(node: Node, tool: str, scope: Scope) -> Mapping[str, Pattern] | None:
    if node.tag == NULL:
        return MappingProxyType({})
    if isinstance(node, MappingNode) and len(node.value) == 1 and node.value[0][0].value == "$ignore":
        fields.boolean(node.value[0][1], scope.faults, "`$ignore`")
        return None
    return patterns(node, scope, f"the arguments of {shown(tool)}")


def _times(node: Node, scope: Scope) -> tuple[int, int | None]:
    if not isinstance(node, SequenceNode):
        count = fields.integer(node, scope.faults, "`times`", least=1)
        return count, count
    ends = fields.items(node, scope.faults, "`times`")
    if len(ends) != 2:
        scope.faults.add("wrong-value", node, "`times` is a number, or `[fewest, most]`")
        return 1, 1
    fewest = fields.integer(ends[0], scope.faults, "the fewest `times`", least=0)
    most = None if ends[1].tag == NULL else fields.integer(ends[1], scope.faults, "the most `times`", least=1)
    if most is not None and most < fewest and not scope.faults.found:
        scope.faults.add("wrong-value", node, "the most `times` are fewer than the fewest")
    return fewest, most


def _canned(found: Entries, scope: Scope) -> Canned | None:
    given = [name for name in found if name in {"returns", "returns_each", "raises"}]
    if not given:
        return None
    if len(given) > 1:
        key = found[given[1]][0]
        scope.faults.add("contradiction", key, f"{shown(given[0])} and {shown(given[1])} exclude each other")
    node = found[given[0]][1]
    if given[0] == "raises":
        return Canned(raises=fields.text(node, scope.faults, "`raises`"))
    if given[0] == "returns":
        return Canned((fields.value(node, scope.faults),))
    results = fields.items(node, scope.faults, "`returns_each`")
    if isinstance(node, SequenceNode) and not results:
        scope.faults.add("wrong-value", node, "this `returns_each` is empty, so that nothing is returned")
    return Canned(tuple(fields.value(item, scope.faults) for item in results), each=True)


def _call_name(node: Node, scope: Scope) -> str:
    name = fields.word(node, scope.faults, "`as`")
    if name and not name.isidentifier():
        scope.faults.add("wrong-value", node, f"{shown(name)} cannot be a name", "letters, digits and underscores only")
    if name in scope.names:
        scope.faults.add("duplicate-name", node, f"another call is named {shown(name)}", "take another name")
    return name


def _call_pattern(node: Node, scope: Scope, what: str) -> CallPattern | None:
    if isinstance(node, ScalarNode):
        return CallPattern(_tool_glob(node, scope))
    found = fields.entries(node, scope.faults, f"each of {what}")
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
