"""Ids of cases and tags. They become pytest's node ids and marks."""

from __future__ import annotations

import keyword
import re

from yaml import Node, ScalarNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, quote
from pytest_fcall.cases.yaml.values import NULL

_LONGEST = 200
_PYTEST_MARKS = frozenset(
    ("filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail", "tryfirst", "trylast")
)


def case_id(node: Node, faults: Faults) -> str:
    """The id of a case."""
    return _id(node, faults, "an id")


def row_id(node: Node, faults: Faults) -> str:
    """The id of a row of a matrix: a string, number or boolean."""
    if isinstance(node, ScalarNode) and node.tag != NULL and node.value:
        node = ScalarNode(node.tag, node.value, node.start_mark, node.end_mark, '"')
    return _id(node, faults, "the id of a row")


def attack_id(node: Node, faults: Faults) -> str:
    """The name of an attacker, or of a form of attacks."""
    return _id(node, faults, "the name of an attack")


def fault_id(node: Node, faults: Faults) -> str:
    """The name of an entry of `faults`."""
    return _id(node, faults, "the name of a fault")


def substitute_id(text: str, number: int) -> str:
    """An id for a case whose own id cannot be used."""
    return re.sub(r"[^\w.\- ]", "_", text)[:_LONGEST].strip() or f"case_{number}"


def tag(node: Node, faults: Faults) -> str:
    """A tag, which becomes a pytest marker; empty where it cannot be one."""
    name = node_values.word(node, faults, "a tag")
    if not name:
        return name
    before = len(faults)
    if name in _PYTEST_MARKS or name.startswith("fc"):
        owner = "pytest" if name in _PYTEST_MARKS else "pytest-fcall"
        hint = f"the key `{name}:` of a case does that" if name in {"skip", "xfail"} else "take another name"
        faults.add("reserved-tag", node, f"the tag {quote(name)} is reserved by {owner}", hint)
    elif not name.isidentifier() or keyword.iskeyword(name):
        hint = "use letters, digits and underscores only, so that `-m` can select it"
        faults.add("bad-tag", node, f"{quote(name)} cannot be a pytest marker", hint)
    return "" if len(faults) > before else name


def _id(node: Node, faults: Faults, what: str) -> str:
    name = node_values.text(node, faults, what)
    if "::" in name:
        faults.add("bad-id", node, f"{what} must not contain `::`", "pytest separates files from cases with it")
    elif "[" in name or "]" in name:
        faults.add("bad-id", node, f"{what} must not contain `[` or `]`", "pytest shows rows and models in brackets")
    elif not name.isprintable():
        faults.add("bad-id", node, f"{what} must not contain line breaks or unprintable characters")
    elif len(name) > _LONGEST:
        faults.add("bad-id", node, f"{what} must not be longer than {_LONGEST} characters")
    elif name != name.strip() or (not name and not faults):
        faults.add("bad-id", node, f"{what} must not be empty, nor begin or end with a space")
    return name
