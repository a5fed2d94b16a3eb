"""Python as syntax trees, sound or broken, and the sub-trees of one by what they begin with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias


class Node(Protocol):
    """What is needed of a node of tree-sitter, whatever its version."""

    @property
    def type(self) -> str:
        """The name in the grammar."""
        ...

    @property
    def text(self) -> bytes | None:
        """Its source."""
        ...

    @property
    def children(self) -> Sequence[Node]:
        """All children, brackets and commas included."""
        ...


Parse: TypeAlias = Callable[[bytes], Node]
"""Gives the root of a tree, for any text: what cannot be read is in nodes of their own."""


@dataclass(frozen=True, slots=True)
class SubTrees:
    """The source of sub-trees."""

    by_beginning: Mapping[bytes, bytes]
    """By that of their first child; of several, the one that ends the text."""
    last: bytes
    """The one that is looked at where no other is meant."""


def sub_trees(root: Node) -> SubTrees:
    """Go through the root and all nodes with children: parents first, and of siblings the last first."""
    by_beginning: dict[bytes, bytes] = {}
    last, waiting = root, [root]
    while waiting:
        last = waiting.pop()
        children = last.children
        if children:
            by_beginning.setdefault(source(children[0]), source(last))
        # Newer grammars give the inside of a string a node of its own; the original's has none.
        waiting.extend(child for child in children if child.type != "string_content" and child.children)
    return SubTrees(by_beginning, source(last))


def source(node: Node) -> bytes:
    """The text of a node."""
    return node.text or b""
