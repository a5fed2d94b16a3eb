"""Expectations: `expect:`, `answer:`, `wire:` and `spans:`, from YAML nodes or from Python values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.calls import CALL_WORDS, call_patterns, expected_call
from pytest_fcall.cases.faults import Faults, SourceFile, quote
from pytest_fcall.cases.files import Reach
from pytest_fcall.cases.foreign_calls import add_fault_of_source, add_fault_of_wire
from pytest_fcall.cases.node_values import Entries
from pytest_fcall.cases.patterns import pattern
from pytest_fcall.cases.placeholders import Placeholders
from pytest_fcall.cases.scope import Extensions, Scope, Toolbox
from pytest_fcall.cases.yaml.values import STR
from pytest_fcall.core.case import Fault
from pytest_fcall.core.expectation import Expectation, ExpectedCall
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.request import Tool

if TYPE_CHECKING:
    from pytest_fcall.core.app import SpansExpectation, WireExpectation

_Stage: TypeAlias = tuple[ExpectedCall, ...]
_Word = TypeVar("_Word", bound=str)

CHECK_KEYS = ("expect", "answer", "state", "result")
"""The keys of a case or a turn that say what is expected."""
APP_KEYS = ("wire", "spans")
"""The keys of a case that say what is expected of the inside of an app."""
EXPECT_KEYS = ("calls", "order", "extra", "allow", "any_of", "never", "parallel")
_ALTERNATIVE_KEYS = tuple(key for key in EXPECT_KEYS if key != "any_of")


def expectation(node: Node, scope: Scope) -> Expectation:
    """A list of calls, a word, or a mapping. Later expectations may refer to its named calls."""
    if isinstance(node, MappingNode):
        return _mapping(node, scope, EXPECT_KEYS, "`expect`")
    return _calls(node, scope, strict=False)


def _mapping(node: Node, scope: Scope, keys: Sequence[str], what: str) -> Expectation:
    found = node_values.entries(node, scope.faults, what)
    if any(name in scope.offered_tools and name not in keys for name in found):
        scope.faults.add("wrong-type", node, "calls must be a list", "write `[{…}]`, or begin each call with `- `")
        return Expectation()
    if add_fault_of_wire(node, found, scope):
        return Expectation()
    node_values.check_keys(found, keys, scope.faults, what)
    if "calls" in found and "any_of" in found:
        scope.faults.add("contradiction", found.key("any_of"), "`calls` and `any_of` exclude each other")
    elif "calls" not in found and "any_of" not in found and "never" not in found:
        needed = "`calls` or `any_of`" if "any_of" in keys else "`calls`"
        scope.faults.add("missing-key", node, f"{what} needs {needed}", "such as `calls: [...]`")
    order: Literal["any", "strict"] = _choice(found, "order", ("any", "strict"), scope)
    extra: Literal["forbid", "allow"] = _choice(found, "extra", ("forbid", "allow"), scope)
    parallel: Literal["as_given", "free"] = _choice(found, "parallel", ("as_given", "free"), scope)
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
        allow=found.read("allow", call_patterns, scope, "`allow`") or (),
        never=found.read("never", call_patterns, scope, "`never`") or (),
        alternatives=base.alternatives,
        parallel=parallel,
    )


def _choice(found: Entries, key: str, words: tuple[_Word, _Word], scope: Scope) -> _Word:
    """One of two words; the first is the default."""
    return node_values.choice(found[key][1], scope.faults, f"`{key}`", words, words[0]) if key in found else words[0]


def _alternatives(node: Node, scope: Scope) -> tuple[Expectation, ...]:
    nodes = node_values.items(node, scope.faults, "`any_of`")
    if isinstance(node, SequenceNode) and not nodes:
        scope.faults.add("wrong-value", node, "`any_of` is empty: no answer could be right")
    before = frozenset(scope.known_calls)
    after = set(before)
    found = []
    for item in nodes:
        scope.known_calls = set(before)
        found.append(_alternative(item, scope))
        after |= scope.known_calls
    scope.known_calls = after
    return tuple(found)


def _alternative(node: Node, scope: Scope) -> Expectation:
    if isinstance(node, MappingNode):
        return _mapping(node, scope, _ALTERNATIVE_KEYS, "an alternative")
    if isinstance(node, SequenceNode):
        message = "an alternative must be a mapping, `no_call` or `any_call`, not a list"
        scope.faults.add("wrong-type", node, message, "write `calls: [...]`")
        return Expectation()
    return _calls(node, scope, strict=False)


def _calls(node: Node, scope: Scope, *, strict: bool) -> Expectation:
    if isinstance(node, ScalarNode):
        if node.tag != STR:
            wanted = "a list of calls, a mapping, `no_call` or `any_call`"
            node_values.wrong_type(node, scope.faults, "`expect`", wanted)
            return Expectation()
        if add_fault_of_source(node, scope):
            return Expectation()
        return Expectation(node_values.choice(node, scope.faults, "`expect`", CALL_WORDS, "no_call"))
    nodes = node_values.items(node, scope.faults, "`expect`")
    if not nodes:
        return Expectation("no_call")
    first: list[Node] = []
    groups: list[Node] = []
    for item in nodes:
        if (group := _then_group(item, scope)) is not None:
            groups.append(group)
        elif groups:
            message = "calls after a `then:` group must be inside a `then:` group"
            scope.faults.add("wrong-order", item, message, "move it above the `then:`, or into a `then:` of its own")
        else:
            first.append(item)
    stages = [_stage(first, scope, strict=strict)] if first else []
    for group in groups:
        inside = node_values.items(group, scope.faults, "`then`", "begin each call with `- `")
        if not inside and isinstance(group, SequenceNode):
            scope.faults.add("wrong-value", group, "`then` is empty")
        stages.append(_stage(inside, scope, strict=strict))
    return Expectation(stages=tuple(stages if not first or stages[0] else stages[1:]))


def _then_group(node: Node, scope: Scope) -> Node | None:
    """The value of `then:`; None if the node is a call."""
    pairs: list[tuple[Node, Node]] = node.value if isinstance(node, MappingNode) else []
    found = None
    for key, value in pairs:
        if key.value == "then":
            found = value
            break
    if found is None or ("then" in scope.offered_tools and not isinstance(found, SequenceNode)):
        return None
    for key, _ in pairs:
        if key.value != "then":
            hint = "put it beside the call that it belongs to"
            scope.faults.add("unknown-key", key, "no other key is allowed next to `then`", hint)
    return found


def _stage(nodes: Sequence[Node], scope: Scope, *, strict: bool) -> _Stage:
    """The calls of one stage. Calls may refer to those of earlier stages; in a strict order, to any earlier call."""
    names: set[str] = set()
    calls = []
    for node in nodes:
        call = expected_call(node, scope)
        if call is None:
            continue
        calls.append(call)
        if call.name:
            if call.name in names:
                message = f"another call is named {quote(call.name)}"
                scope.faults.add("duplicate-name", node, message, "choose another name")
            (scope.known_calls if strict else names).add(call.name)
    scope.known_calls |= names
    return tuple(calls)


def answer(node: Node, scope: Scope) -> Pattern:
    """An expected value of the final text."""
    expected = pattern(node, scope)
    for value in _non_strings(expected):
        hint = f'quote it: "{value}"'
        if not isinstance(value, bool):
            hint = f"write `$number: {value}`, or {hint}"
        scope.faults.add("wrong-type", node, f"`answer` must be a string, not {json.dumps(value)}", hint)
    return expected


def _non_strings(expected: Pattern) -> Iterator[bool | int | float]:
    """The numbers and booleans that the pattern compares with the text."""
    match expected:
        case bool() | int() | float():
            yield expected
        case Operator("any" | "all", list() as parts):
            for part in parts:
                yield from _non_strings(part)
        case Operator("contains" | "not" | "optional", inner):
            yield from _non_strings(inner)


_WIRE_KEYS = ("calls", "count", "tools", "models", "tokens", "cost")
_LISTS_OF_NAMES = ("tools", "models")


def wire(node: Node, scope: Scope) -> WireExpectation:
    """An expectation about an app's requests. The app may offer any tool of the file."""
    found = node_values.entries(node, scope.faults, "`wire`", _WIRE_KEYS)
    if not found and isinstance(node, MappingNode):
        scope.faults.add("missing-key", node, "`wire` is empty", "give it `calls:` or `count:`")
    values = {name: _figure("wire", name, found[name][1], scope) for name in _WIRE_KEYS[1:] if name in found}
    from pytest_fcall.core.app import WireExpectation

    return WireExpectation(_calls_inside("wire", found, scope), **values, known_tools=scope.toolbox.catalogue)


def spans(node: Node, scope: Scope) -> SpansExpectation:
    """An expectation about an app's spans. The app may have any tool of the file."""
    found = node_values.entries(node, scope.faults, "`spans`", ("calls", "models"))
    if not found and isinstance(node, MappingNode):
        scope.faults.add("missing-key", node, "`spans` is empty", "give it `calls:`, the tools that ran")
    models = _figure("spans", "models", found["models"][1], scope) if "models" in found else None
    from pytest_fcall.core.app import SpansExpectation

    return SpansExpectation(_calls_inside("spans", found, scope), models, known_tools=scope.toolbox.catalogue)


def _calls_inside(key: str, found: Entries, scope: Scope) -> Expectation | None:
    """The expected calls inside an app."""
    inside = replace(scope, offered_tools=scope.toolbox.names, known_calls=set())
    calls = found.read("calls", expectation, inside)
    if calls is not None and any(call.stub is not None or call.result is not None for call in calls.all_calls):
        message = f"the app carries out its calls itself, so `{key}` has no results"
        scope.faults.add("contradiction", found.key("calls"), message, "leave `result`, `returns` and `raises` out")
    return calls


def _figure(key: str, name: str, node: Node, scope: Scope) -> Pattern:
    value = pattern(node, scope)
    if not _is_figure(name, value):
        wanted, example = "a number that is not negative", "{$le: 3}"
        if name in _LISTS_OF_NAMES:
            wanted, example = "a list of names", "{$contains: a}"
        scope.faults.add("wrong-type", node, f"`{key}.{name}` must be {wanted}, or an operator such as `{example}`")
    return value


def _is_figure(name: str, value: Pattern) -> bool:
    if value is None or isinstance(value, Operator):
        return True
    if name in _LISTS_OF_NAMES:
        return isinstance(value, list) and all(isinstance(each, str | Operator) for each in value)
    types = (int, float) if name == "cost" else int
    return isinstance(value, types) and not isinstance(value, bool) and value >= 0


class ExpectationError(ValueError):
    """The expectation is not valid, or no reply to these tools can meet it."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        texts = (f"{fault.message} ({fault.hint})" if fault.hint else fault.message for fault in faults)
        super().__init__("; ".join(texts))
        self.faults = tuple(faults)


def read_expectation(data: object, tools: Sequence[Tool] = (), *, comparators: Iterable[str] = ()) -> Expectation:
    """Read the value of `expect:` from Python values. Without tools, names and values are not checked.

    Raises ExpectationError with all faults, for which pytest shows the line that gave the values.
    """
    __tracebackhide__ = True
    from pytest_fcall.cases.yaml.values import nodes_from_python

    faults = Faults(SourceFile("expected"))
    scope = Scope(
        faults,
        Path(),
        Reach(Path(), ()),
        Placeholders(datetime.now(UTC), {}),
        Extensions(comparators=frozenset(comparators)),
        toolbox=Toolbox(tools, is_complete=bool(tools)),
        offered_tools=frozenset(tool.name for tool in tools),
    )
    try:
        result = expectation(nodes_from_python(data), scope)
    except ValueError as error:
        faults.add("wrong-type", None, str(error))
    else:
        if any(call.result is not None for call in result.all_calls):
            message = "`result` needs a call that is carried out, and a reply only names it"
            faults.add("contradiction", None, message, "leave it out, or write a case with an `environment`")
    if faults:
        raise ExpectationError(faults)
    return result
