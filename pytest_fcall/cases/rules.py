"""The rules that judge calls: `match:`, `strings:`, `profile:` and `language:`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from yaml import MappingNode, Node

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, quote
from pytest_fcall.cases.node_values import glob
from pytest_fcall.cases.patterns import pattern
from pytest_fcall.cases.scope import Scope, check_tool_name
from pytest_fcall.core.bounded_text import is_glob
from pytest_fcall.core.case import Turn
from pytest_fcall.core.expectation import Language, MatchRule, Profile, Rules, Strings
from pytest_fcall.core.message_text import clauses, did_you_mean
from pytest_fcall.core.operators import Operator, pattern_operators


def match_rules(node: Node, scope: Scope) -> tuple[MatchRule, ...]:
    """The rules of `match:`, in their order."""
    rules = []
    for key, value in node_values.entries(node, scope.faults, "`match`").values():
        path = glob(key, scope.faults, "a parameter")
        _check_path(key, path, scope)
        rules.append(_rule(path, value, scope))
    return tuple(rules)


def strings(node: Node, scope: Scope) -> Strings:
    """The comparison of strings."""
    return node_values.choice(node, scope.faults, "`strings`", get_args(Strings), "exact")


def profile(node: Node, scope: Scope) -> Profile:
    """The set of matching rules of a case."""
    return node_values.choice(node, scope.faults, "`profile`", ("strict", "bfcl"), "strict")


def suite_profile(node: Node, scope: Scope) -> Profile:
    """The set of matching rules of the cases of a suite."""
    return node_values.choice(node, scope.faults, "`profile`", get_args(Profile), "strict")


def language(node: Node, scope: Scope) -> Language:
    """The programming language of the literals in arguments."""
    return node_values.choice(node, scope.faults, "`language`", get_args(Language), "python")


def _rule(path: str, node: Node, scope: Scope) -> MatchRule:
    if isinstance(node, MappingNode) and [key.value for key, _ in node.value] == ["strings"]:
        return MatchRule(path, strings=strings(node.value[0][1], scope))
    before = len(scope.faults)
    operator = pattern(node, scope)
    if isinstance(operator, Operator):
        return MatchRule(path, operator)
    if len(scope.faults) == before:
        hint = "such as {$ignore: true} or {strings: relaxed}"
        scope.faults.add("wrong-type", node, "a rule must be an operator, or `strings`", hint)
    return MatchRule(path)


def _check_path(place: Node, path: str, scope: Scope) -> None:
    tool, _, parameter = path.rpartition(".")
    if path and not (tool and parameter):
        message = f"{quote(path)} is not of the form TOOL.PARAMETER"
        scope.faults.add("wrong-value", place, message, 'such as "*.city" or "book.seat"')
        return
    tool, parameter = _split(path, scope)
    if not tool or is_glob(tool) or not check_tool_name(place, tool, scope):
        return
    schema = scope.toolbox.schema(tool) if scope.toolbox.is_complete else None
    if schema and not schema.allows_more_arguments and not is_glob(parameter) and parameter not in schema.parameters:
        hint = clauses(scope.toolbox.lock_hint(tool), did_you_mean(parameter, schema.parameters))
        scope.faults.add("unknown-argument", place, f"{quote(tool)} has no argument {quote(parameter)}", hint)


def _split(path: str, scope: Scope) -> tuple[str, str]:
    """The tool and the first parameter of a path. The name of a tool may contain dots."""
    tool = next((name for name in scope.toolbox.tools if path.startswith(f"{name}.")), path.partition(".")[0])
    return tool, path[len(tool) + 1 :].partition(".")[0]


def check_profile(place: Node, turns: Sequence[Turn], rules: Rules, faults: Faults) -> None:
    """Add a fault for each expectation that the profile has no rule for."""
    if rules.profile != "bfcl":
        if rules.language != "python":
            message = f"`language: {rules.language}` is not supported by `profile: strict`"
            faults.add("contradiction", place, message, "write `profile: bfcl`, or leave `language` out")
        return
    from pytest_fcall.core import bfcl_support as bfcl

    for turn in turns:
        parts = [(bfcl.unsupported_in_result(turn.result), bfcl.SUPPORTED_IN_RESULTS)]
        if turn.expect is not None:
            parts.insert(0, (bfcl.unsupported_by_bfcl(turn.expect, rules), bfcl.SUPPORTED))
        for names, supported in parts:
            for name in names:
                message = f"{name} is not supported by `profile: bfcl`"
                faults.add(
                    "beyond-bfcl", place, message, f"it supports {supported}; the profile `strict` supports more"
                )
        if any(each.name == "judge" for each in pattern_operators([turn.answer, turn.state, turn.result])):
            message = "`$judge` is not supported by `profile: bfcl`"
            faults.add("beyond-bfcl", place, message, "its verdicts are those of a program, without a judge model")
