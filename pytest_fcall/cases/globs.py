"""Reading globs over names of tools, parameters and models."""

from __future__ import annotations

from yaml import Node, ScalarNode

from pytest_fcall.cases import fields
from pytest_fcall.cases.faults import Faults


def glob(node: Node, faults: Faults, what: str) -> str:
    """A name, or a glob."""
    name = fields.text(node, faults, what)
    if name != name.strip() or (not name and node.tag.endswith(":str")):
        faults.add("bad-glob", node, f"{what} may not be empty, nor begin or end with a space")
    return name


def one_or_many(node: Node, faults: Faults, what: str) -> tuple[tuple[str, Node], ...]:
    """One glob or a list of them, with their places."""
    nodes = [node] if isinstance(node, ScalarNode) else fields.items(node, faults, what)
    return tuple((glob(item, faults, what), item) for item in nodes)
