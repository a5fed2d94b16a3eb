"""`skip` and `xfail`, and how often a case is asked."""

from __future__ import annotations

import re

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import fields
from pytest_fcall.cases.faults import Faults, shown
from pytest_fcall.cases.globs import one_or_many
from pytest_fcall.cases.yaml.tags import STR
from pytest_fcall.core import Condition, Samples

_RATE = re.compile(r"rate>=(0(\.[0-9]+)?|1(\.0+)?)")


def conditions(node: Node, faults: Faults, what: str) -> tuple[Condition, ...]:
    """A reason, a mapping of reason and models, or a list of these."""
    nodes = node.value if isinstance(node, SequenceNode) else [node]
    return tuple(_condition(item, faults, what) for item in nodes)


def samples(node: Node, faults: Faults) -> Samples:
    """A number, `auto`, or a mapping of these with a rule."""
    if not isinstance(node, MappingNode):
        return Samples(_count(node, faults))
    found = fields.entries(node, faults, "`samples`")
    fields.known_only(found, ("count", "rule"), faults, "`samples`")
    rule = fields.text(found["rule"][1], faults, "the rule of `samples`") if "rule" in found else "all"
    if rule and rule not in {"all", "any"} and not _RATE.fullmatch(rule):
        faults.add("wrong-value", found["rule"][1], f"{shown(rule)} is no rule", "all, any, or such as rate>=0.8")
    if "count" in found:
        return Samples(_count(found["count"][1], faults), rule)
    faults.add("missing-key", node, "`samples` needs a `count`", "a number, or `auto`")
    return Samples(1, rule)


def _condition(node: Node, faults: Faults, what: str) -> Condition:
    if isinstance(node, ScalarNode):
        return Condition(_reason(node, faults, what))
    found = fields.entries(node, faults, what)
    fields.known_only(found, ("reason", "models"), faults, what)
    models = one_or_many(found["models"][1], faults, "a model") if "models" in found else ()
    if "reason" not in found:
        if found:
            faults.add("missing-key", node, f"{what} needs a `reason`", "say in a few words why")
        return Condition("")
    return Condition(_reason(found["reason"][1], faults, what), tuple(name for name, _ in models))


def _reason(node: Node, faults: Faults, what: str) -> str:
    if isinstance(node, ScalarNode) and (node.tag != STR or not node.value.strip()):
        faults.add("missing-key", node, f"{what} needs a reason", f"such as `{what.strip('`')}: drops the second call`")
        return ""
    return fields.text(node, faults, what)


def _count(node: Node, faults: Faults) -> int | None:
    if isinstance(node, ScalarNode) and node.value == "auto":
        return None
    return fields.integer(node, faults, "`samples`", least=1)
