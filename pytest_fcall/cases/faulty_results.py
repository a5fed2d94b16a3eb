"""Results that are faulty on purpose: `faults:`, and the case with each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, get_args

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, quote
from pytest_fcall.cases.ids import fault_id
from pytest_fcall.cases.node_values import Entries, one_or_many
from pytest_fcall.cases.patterns import pattern
from pytest_fcall.cases.scope import Scope, check_tool_name
from pytest_fcall.cases.yaml.values import STR
from pytest_fcall.core.bounded_text import glob_matches, is_glob
from pytest_fcall.core.case import FAULT, Case
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.operators import pattern_operators
from pytest_fcall.core.result_fault import MESSAGES, FaultKind, Recovery, ResultFault

if TYPE_CHECKING:
    from pytest_fcall.core.operators import Pattern

KINDS: Final[tuple[FaultKind, ...]] = get_args(FaultKind)
_RECOVERIES: Final = ("retries", "tells", "any")
_KEYS = ("id", "tool", "kind", "times", "recovery", "retries", "answer", "effect", "message")
_MOST_RETRIES = 3


def result_faults(node: Node, scope: Scope) -> tuple[ResultFault, ...]:
    """The faults of one entry, of a list of them, or `none`."""
    found = [each for item in node_values.mappings(node, scope.faults, "`faults`") for each in _entry(item, scope)]
    node_values.check_different([each.name for each in found], node, scope.faults, "faults")
    return tuple(found)


def faulty_cases(case: Case, wanted: Sequence[ResultFault], place: Node | None, faults: Faults) -> Iterator[Case]:
    """The case with each fault that can come up in it.

    `place` is the `faults` of the case itself; None where it comes from `defaults`, which may have faults that do not
    concern each case.
    """
    for fault in wanted:
        if _may_come_up(case, fault):
            yield _with_fault(case, fault)
        elif place is not None:
            names = " or ".join(map(quote, fault.tools))
            message = f"no call of {names} is expected or allowed, so its result cannot be faulty"
            faults.add("contradiction", place, message, "name a tool in `tool` that the case expects")


def _with_fault(case: Case, fault: ResultFault) -> Case:
    return replace(
        case,
        id=fault.case_id(case.id),
        category=FAULT,
        tags=tuple(dict.fromkeys((*case.tags, FAULT))),
        mode="conversation",
        wire=None,
        spans=None,
        result_fault=fault,
        undated=_with_fault(case.undated, fault) if case.undated else None,
    )


def _may_come_up(case: Case, fault: ResultFault) -> bool:
    return any(fault.is_for(tool) for turn in case.turns for tool in _called_tools(case, turn.expect))


def _called_tools(case: Case, expect: Expectation | None) -> Iterator[str]:
    """The tools that may be called in a turn."""
    offered = [tool.name for tool in case.tools]
    if expect is None or expect.extra == "allow" or expect.kind == "any_call":
        yield from offered
        return
    yield from (call.tool for call in expect.calls)
    for allowed in expect.allow:
        yield from (name for name in offered if glob_matches(allowed.tool, name))
    for each in expect.alternatives:
        yield from _called_tools(case, each)


def _entry(node: Node, scope: Scope) -> Iterator[ResultFault]:
    """The faults of one entry: one for each kind."""
    faults = scope.faults
    found = node_values.entries(node, faults, "an entry of `faults`", _KEYS)
    if isinstance(node, MappingNode) and "tool" not in found:
        faults.add("missing-key", node, "a fault needs a `tool`", "such as `tool: search_flights`, or `tool: '*'`")
    name = fault_id(found["id"][1], faults) if "id" in found else ""
    tools = _tools(found, "tool", scope)
    times = _times(found, faults)
    most = node_values.integer(found["retries"][1], faults, "`retries`", least=1) if "retries" in found else None
    recovery, others = _recovery(found, scope)
    effect = bool(found.read("effect", node_values.boolean, faults, "`effect`"))
    message = found.read("message", node_values.word, faults, "`message`") or ""
    _check(found, times, most, recovery, others, tools, faults)
    answer = _answer(found, scope)
    for kind in _kinds(found, faults):
        if message and kind not in MESSAGES:
            hint = f"it is for {', '.join(MESSAGES)}"
            faults.add("contradiction", found.key("message"), f"a {kind} result has no `message`", hint)
        yield ResultFault(
            name=f"{name}.{kind}" if name else kind,
            kind=kind,
            tools=tools,
            times=times,
            recovery=recovery,
            other_tools=others,
            most=most or max(_MOST_RETRIES, times or 0),
            answer=answer,
            effect=effect,
            message=message or MESSAGES.get(kind, ""),
        )


def _check(
    found: Entries,
    times: int | None,
    most: int | None,
    recovery: Sequence[Recovery],
    others: Sequence[str],
    tools: Sequence[str],
    faults: Faults,
) -> None:
    """Report what no model could do right."""
    if recovery == ("retries",) and times is None:
        message = "the result is faulty always, so no repetition can help"
        hint = "let the model tell of it, too: `recovery: [retries, tells]`"
        faults.add("contradiction", found.key("recovery"), message, hint)
    if recovery == ("retries",) and times is not None and most is not None and most < times:
        message = f"{times} results are faulty, and only {most} repetitions are right"
        faults.add("contradiction", found.key("retries"), message, "let `retries` be at least `times`")
    for other in others:
        if any(glob_matches(glob, other) for glob in tools):
            message = f"{quote(other)} is faulty itself, so it cannot be called instead"
            faults.add("contradiction", found.key("recovery"), message, "name another tool")


def _kinds(found: Entries, faults: Faults) -> Sequence[FaultKind]:
    if "kind" not in found:
        return KINDS
    node = found["kind"][1]
    if isinstance(node, SequenceNode) and not node.value:
        faults.add("wrong-value", node, "`kind` is empty", "leave it out for all of them")
    nodes = node.value if isinstance(node, SequenceNode) else [node]
    return tuple(dict.fromkeys(node_values.choice(each, faults, "`kind`", KINDS, KINDS[0]) for each in nodes))


def _times(found: Entries, faults: Faults) -> int | None:
    if "times" not in found:
        return 1
    node = found["times"][1]
    if isinstance(node, ScalarNode) and node.tag == STR:
        if node.value != "always":
            hint = "write a number from 1 on, or `always`"
            faults.add("wrong-value", node, f"`times` cannot be {quote(node.value)}", hint)
        return None
    return node_values.integer(node, faults, "`times`", least=1)


def _recovery(found: Entries, scope: Scope) -> tuple[tuple[Recovery, ...], tuple[str, ...]]:
    """The right reactions, and the tools that may be called instead."""
    if "recovery" not in found:
        return ("retries", "tells"), ()
    faults = scope.faults
    node = found["recovery"][1]
    right: list[Recovery] = []
    others: tuple[str, ...] = ()
    for item in node.value if isinstance(node, SequenceNode) else [node]:
        if isinstance(item, MappingNode):
            others += _tools(node_values.entries(item, faults, "`recovery`", ("other_tool",)), "other_tool", scope)
            right.append("other_tool")
            continue
        word = node_values.choice(item, faults, "`recovery`", _RECOVERIES, "any")
        right += ["retries", "tells"] if word == "any" else ["retries"] if word == "retries" else ["tells"]
    if not right:
        faults.add("wrong-value", node, "`recovery` is empty", "leave it out, or say `any`")
    return tuple(dict.fromkeys(right)), others


def _tools(found: Entries, key: str, scope: Scope) -> tuple[str, ...]:
    names = found.read(key, one_or_many, scope.faults, f"`{key}`") or ()
    for name, node in names:
        if not is_glob(name):
            check_tool_name(node, name, scope)
        elif key == "other_tool":
            scope.faults.add("wrong-value", node, f"`{key}` cannot be a glob", "name the tool")
    return tuple(name for name, _ in names)


def _answer(found: Entries, scope: Scope) -> Pattern:
    answer = found.read("answer", pattern, scope)
    if any(operator.name == "from" for operator in pattern_operators(answer)):
        message = "the `answer` of a fault cannot use `$from`"
        scope.faults.add("contradiction", found.key("answer"), message, "the call that it names may have no result")
    return answer
