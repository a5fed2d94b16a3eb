"""`expect:`, what a right answer is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, cast

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import fields
from pytest_fcall.cases.calls import call_patterns, expected_call
from pytest_fcall.cases.faults import shown
from pytest_fcall.cases.fields import Entries
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.yaml.tags import STR
from pytest_fcall.core import Expectation, ExpectedCall

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
    found = fields.entries(node, scope.faults, what)
    if any(name in scope.offered and name not in keys for name in found):
        scope.faults.add("wrong-type", node, "calls are a list", "begin each call with `- `")
        return Expectation()
    fields.known_only(found, keys, scope.faults, what)
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
    return fields.choice(found[key][1], scope.faults, f"`{key}`", words) if key in found else words[0]


def _alternatives(node: Node, scope: Scope) -> tuple[Expectation, ...]:
    nodes = fields.items(node, scope.faults, "`any_of`")
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
            fields.wrong_type(node, scope.faults, "`expect`", "a list of calls, a mapping, `no_call` or `any_call`")
            return Expectation()
        word = fields.choice(node, scope.faults, "`expect`", _WORDS)
        return Expectation("any_call" if word == "any_call" else "no_call")
    first: list[ExpectedCall] = []
    stages: list[Stage] = []
    names: set[str] = set()
    nodes = fields.items(node, scope.faults, "`expect`")
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
    nodes = fields.items(node, scope.faults, "`then`")
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
