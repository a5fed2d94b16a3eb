"""`expect:`, `answer:` and `wire:`, from YAML nodes or from Python values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias, cast

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.calls import call_patterns, expected_call
from pytest_fcall.cases.faults import Faults, SourceFile, shown
from pytest_fcall.cases.node_values import Entries
from pytest_fcall.cases.patterns import pattern
from pytest_fcall.cases.placeholders import Placeholders
from pytest_fcall.cases.scope import Extensions, Scope, Toolbox
from pytest_fcall.cases.yaml.python_nodes import nodes_from_python
from pytest_fcall.cases.yaml.tags import STR
from pytest_fcall.core import Expectation, ExpectedCall, Fault, Operator, Pattern, Tool, WireExpectation

Stage: TypeAlias = tuple[ExpectedCall, ...]

_WORDS = ("no_call", "any_call")
EXPECT_KEYS = ("calls", "order", "extra", "allow", "any_of", "never", "parallel")
_ALTERNATIVE_KEYS = tuple(key for key in EXPECT_KEYS if key != "any_of")


def expectation(node: Node, scope: Scope) -> Expectation:
    """A list of calls, a word, or a mapping. The names of its calls are known to `$from` afterwards."""
    if isinstance(node, MappingNode):
        return _mapping(node, scope, EXPECT_KEYS, "`expect`")
    return _calls(node, scope, strict=False)


def _mapping(node: Node, scope: Scope, keys: Sequence[str], what: str) -> Expectation:
    found = node_values.entries(node, scope.faults, what)
    if any(name in scope.offered and name not in keys for name in found):
        scope.faults.add("wrong-type", node, "calls are a list", "begin each call with `- `")
        return Expectation()
    node_values.known_only(found, keys, scope.faults, what)
    if "calls" in found and "any_of" in found:
        scope.faults.add("contradiction", found["any_of"][0], "`calls` and `any_of` exclude each other")
    elif "calls" not in found and "any_of" not in found and "never" not in found:
        scope.faults.add("missing-key", node, "this says nothing of calls", "give it `calls:`, or `any_of:`")
    order = cast(Literal["any", "strict"], _choice(found, "order", ("any", "strict"), scope))
    extra = cast(Literal["forbid", "allow"], _choice(found, "extra", ("forbid", "allow"), scope))
    if "any_of" in found:
        base = Expectation("any_of", alternatives=_alternatives(found["any_of"][1], scope))
    elif "calls" in found:
        base = _calls(found["calls"][1], scope, strict=order == "strict")
    else:
        base = Expectation(extra="allow")
    return Expectation(
        kind=base.kind,
        stages=base.stages,
        order=order,
        extra=extra if "extra" in found else base.extra,
        allow=call_patterns(found["allow"][1], scope, "`allow`") if "allow" in found else (),
        never=call_patterns(found["never"][1], scope, "`never`") if "never" in found else (),
        alternatives=base.alternatives,
        parallel=cast(Literal["as_given", "free"], _choice(found, "parallel", ("as_given", "free"), scope)),
    )


def _choice(found: Entries, key: str, words: tuple[str, str], scope: Scope) -> str:
    """One of two words; the first is the default."""
    return node_values.choice(found[key][1], scope.faults, f"`{key}`", words) if key in found else words[0]


def _alternatives(node: Node, scope: Scope) -> tuple[Expectation, ...]:
    nodes = node_values.items(node, scope.faults, "`any_of`")
    if isinstance(node, SequenceNode) and not nodes:
        scope.faults.add("wrong-value", node, "this list of alternatives is empty, so that nothing is right")
    before = set(scope.names)
    after = set(scope.names)
    found = []
    for item in nodes:
        scope.names = set(before)
        found.append(_alternative(item, scope))
        after |= scope.names
    scope.names = after
    return tuple(found)


def _alternative(node: Node, scope: Scope) -> Expectation:
    if isinstance(node, MappingNode):
        return _mapping(node, scope, _ALTERNATIVE_KEYS, "an alternative")
    if isinstance(node, SequenceNode):
        scope.faults.add("wrong-type", node, "an alternative is a mapping or `no_call`", "write `calls: [...]`")
        return Expectation()
    return _calls(node, scope, strict=False)


def _calls(node: Node, scope: Scope, *, strict: bool) -> Expectation:
    if isinstance(node, ScalarNode):
        if node.tag != STR:
            node_values.wrong_type(
                node, scope.faults, "`expect`", "a list of calls, a mapping, `no_call` or `any_call`"
            )
            return Expectation()
        word = node_values.choice(node, scope.faults, "`expect`", _WORDS)
        return Expectation("any_call" if word == "any_call" else "no_call")
    first: list[ExpectedCall] = []
    stages: list[Stage] = []
    names: set[str] = set()
    nodes = node_values.items(node, scope.faults, "`expect`")
    for item in nodes:
        if (group := _group(item, scope)) is not None:
            scope.names |= names
            stages.append(_stage(group, scope, strict=strict))
        elif stages:
            hint = "put it above the `then:`, or into one of its own"
            scope.faults.add("wrong-order", item, "a call stands below a `then:`", hint)
        elif (call := expected_call(item, scope)) is not None:
            first.append(call)
            _name(call, item, names, scope, strict=strict)
    scope.names |= names
    if not nodes:
        return Expectation("no_call")
    return Expectation(stages=(tuple(first), *stages) if first else tuple(stages))


def _group(node: Node, scope: Scope) -> Node | None:
    """What stands behind `then:`."""
    pairs: list[tuple[Node, Node]] = node.value if isinstance(node, MappingNode) else []
    found = next((value for key, value in pairs if key.value == "then"), None)
    if found is None or ("then" in scope.offered and not isinstance(found, SequenceNode)):
        return None
    for key, _ in pairs:
        if key.value != "then":
            hint = "what belongs to a call stands beside that call"
            scope.faults.add("unknown-key", key, "nothing may stand beside `then`", hint)
    return found


def _stage(node: Node, scope: Scope, *, strict: bool) -> Stage:
    nodes = node_values.items(node, scope.faults, "`then`")
    if not nodes and isinstance(node, SequenceNode):
        scope.faults.add("wrong-value", node, "this `then:` is empty")
    names: set[str] = set()
    calls = []
    for item in nodes:
        if (call := expected_call(item, scope)) is not None:
            calls.append(call)
            _name(call, item, names, scope, strict=strict)
    scope.names |= names
    return tuple(calls)


def _name(call: ExpectedCall, node: Node, names: set[str], scope: Scope, *, strict: bool) -> None:
    """Keep a call's name; only in a strict order the next call may already speak of it."""
    if not call.name:
        return
    if call.name in names:
        scope.faults.add("duplicate-name", node, f"another call is named {shown(call.name)}", "take another name")
    (scope.names if strict else names).add(call.name)


def answer(node: Node, scope: Scope) -> Pattern:
    """Any expected value that a text can be."""
    expected = pattern(node, scope)
    for value in _no_texts(expected):
        hint = (
            f'quote it: "{value}"' if isinstance(value, bool) else f'write `$number: {value}`, or quote it: "{value}"'
        )
        scope.faults.add("wrong-type", node, f"an answer is a text, and {shown(json.dumps(value))} is none", hint)
    return expected


def _no_texts(expected: Pattern) -> Iterator[bool | int | float]:
    """Numbers and booleans that stand where there is only text."""
    match expected:
        case bool() | int() | float():
            yield expected
        case Operator("any" | "all", list() as parts):
            for part in parts:
                yield from _no_texts(part)
        case Operator("contains" | "not" | "optional", inner):
            yield from _no_texts(inner)


WIRE_KEYS = ("calls", "count", "tools", "models", "tokens", "cost")
_NAMES = ("tools", "models")


def wire(node: Node, scope: Scope) -> WireExpectation:
    """Calls may be of any tool of the file: what an app offers its models is its own affair."""
    found = node_values.entries(node, scope.faults, "`wire`")
    node_values.known_only(found, WIRE_KEYS, scope.faults, "`wire`")
    if not found and isinstance(node, MappingNode):
        scope.faults.add("missing-key", node, "this says nothing of what the app asks", "give it `calls:` or `count:`")
    inside = replace(scope, offered=frozenset(scope.toolbox.tools), names=set(), profile="strict")
    values = {name: _value(name, found[name][1], scope) for name in WIRE_KEYS[1:] if name in found}
    calls = expectation(found["calls"][1], inside) if "calls" in found else None
    return WireExpectation(calls, **values)


def _value(name: str, node: Node, scope: Scope) -> Pattern:
    value = pattern(node, scope)
    if not _can_hold(name, value):
        what, hint = ("a list of names", "{$contains: a}") if name in _NAMES else ("a number, zero or more", "{$le: 3}")
        scope.faults.add("wrong-type", node, f"`wire.{name}` must be {what}, or an operator such as `{hint}`")
    return value


def _can_hold(name: str, value: Pattern) -> bool:
    if value is None or isinstance(value, Operator):
        return True
    if name in _NAMES:
        return isinstance(value, list) and all(isinstance(each, str | Operator) for each in value)
    whole = (int, float) if name == "cost" else int
    return isinstance(value, whole) and not isinstance(value, bool) and value >= 0


class ExpectationError(ValueError):
    """The expectation is no expectation, or one that no reply to these tools can meet."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        said = (f"{fault.message} ({fault.hint})" if fault.hint else fault.message for fault in faults)
        super().__init__("; ".join(said))
        self.faults = tuple(faults)


def read_expectation(data: object, tools: Sequence[Tool] = (), *, comparators: Iterable[str] = ()) -> Expectation:
    """Read what stands behind `expect:`, given as Python values. Without tools, names and values are not checked.

    Raises ExpectationError with all that is wrong.
    """
    faults = Faults(SourceFile("expected"))
    scope = Scope(
        faults,
        Path(),
        Placeholders(datetime.now(UTC), {}),
        Extensions(comparators=frozenset(comparators)),
        toolbox=Toolbox(tools, complete=bool(tools)),
        offered=frozenset(tool.name for tool in tools),
    )
    try:
        result = expectation(nodes_from_python(data), scope)
    except ValueError as error:
        faults.add("wrong-type", None, str(error))
    else:
        if any(call.result is not None for call in result.all_calls):
            hint = "leave it out, or write a case with an `environment`"
            faults.add("contradiction", None, "`result` is about a call that is carried out, and this is a reply", hint)
    if faults.found:
        raise ExpectationError(faults.found)
    return result
