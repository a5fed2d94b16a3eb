"""`match:`, `strings:`, `profile:` and `language:`, and what a profile does not support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

from yaml import MappingNode, Node

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, did_you_mean, shown
from pytest_fcall.cases.node_values import glob
from pytest_fcall.cases.patterns import pattern
from pytest_fcall.cases.scope import Scope
from pytest_fcall.core import Language, MatchRule, Operator, Profile, Rules, Strings, Turn
from pytest_fcall.core.bfcl_support import SUPPORTED, SUPPORTED_IN_RESULTS, unsupported_by_bfcl, unsupported_in_result
from pytest_fcall.core.glob import is_glob
from pytest_fcall.core.operators import pattern_operators


def match_rules(node: Node, scope: Scope) -> tuple[MatchRule, ...]:
    """The rules in the order in which they stand."""
    rules = []
    for key, value in node_values.entries(node, scope.faults, "`match`").values():
        path = glob(key, scope.faults, "a parameter")
        _check_path(key, path, scope)
        rules.append(_rule(path, value, scope))
    return tuple(rules)


def strings(node: Node, scope: Scope) -> Strings:
    """How strings compare."""
    return cast(Strings, node_values.choice(node, scope.faults, "`strings`", get_args(Strings)))


def profile(node: Node, scope: Scope) -> Profile:
    """The set of rules that judges."""
    return cast(Profile, node_values.choice(node, scope.faults, "`profile`", get_args(Profile)))


def language(node: Node, scope: Scope) -> Language:
    """Whose literals the arguments are."""
    return cast(Language, node_values.choice(node, scope.faults, "`language`", get_args(Language)))


def _rule(path: str, node: Node, scope: Scope) -> MatchRule:
    if isinstance(node, MappingNode) and [key.value for key, _ in node.value] == ["strings"]:
        return MatchRule(path, strings=strings(node.value[0][1], scope))
    before = len(scope.faults.found)
    operator = pattern(node, scope)
    if isinstance(operator, Operator):
        return MatchRule(path, operator)
    if len(scope.faults.found) == before:
        hint = "such as {$ignore: true} or {strings: relaxed}"
        scope.faults.add("wrong-type", node, "a rule is an operator, or `strings`", hint)
    return MatchRule(path)


def _check_path(place: Node, path: str, scope: Scope) -> None:
    tool, dot, parameter = path.rpartition(".")
    if path and not (tool and dot and parameter):
        scope.faults.add("wrong-value", place, f"{shown(path)} names no parameter", 'such as "*.city" or "book.seat"')
        return
    tool, _, parameter = _split(path, scope)
    if not tool or is_glob(tool) or not scope.toolbox.complete:
        return
    schema = scope.toolbox.schema(tool)
    if tool not in scope.toolbox.tools:
        hint = did_you_mean(tool, scope.toolbox.tools)
        scope.faults.add("unknown-tool", place, f"there is no tool {shown(tool)}", hint)
    elif schema and not schema.open and not is_glob(parameter) and parameter not in schema.parameters:
        hint = did_you_mean(parameter, schema.parameters)
        scope.faults.add("unknown-argument", place, f"{shown(tool)} has no argument {shown(parameter)}", hint)


def _split(path: str, scope: Scope) -> tuple[str, str, str]:
    """A path's tool and first parameter; the names of tools may contain dots themselves."""
    for name in scope.toolbox.tools:
        if path.startswith(f"{name}."):
            return name, ".", path[len(name) + 1 :].partition(".")[0]
    tool, dot, rest = path.partition(".")
    return tool, dot, rest.partition(".")[0]


def check_profile(place: Node, turns: Sequence[Turn], rules: Rules, faults: Faults) -> None:
    """Note all that the profile has no rule for: to pass over it in silence would be to judge something else."""
    if rules.profile != "bfcl":
        if rules.language != "python":
            hint = "write `profile: bfcl`, or leave `language` out"
            faults.add(
                "contradiction", place, f"`language: {rules.language}` means nothing under `profile: strict`", hint
            )
        return
    for turn in turns:
        for name in unsupported_by_bfcl(turn.expect, rules) if turn.expect is not None else ():
            message = f"{name} means nothing under `profile: bfcl`"
            faults.add("beyond-bfcl", place, message, f"it knows {SUPPORTED}; the profile `strict` knows more")
        for name in unsupported_in_result(turn.result):
            message = f"{name} means nothing under `profile: bfcl`"
            faults.add(
                "beyond-bfcl", place, message, f"it knows {SUPPORTED_IN_RESULTS}; the profile `strict` knows more"
            )
        if any(each.name == "judge" for each in pattern_operators([turn.answer, turn.state, turn.result])):
            message = "`$judge` may not stand beside `profile: bfcl`"
            faults.add("beyond-bfcl", place, message, "its verdicts are those of a program; no model has a say in them")
