"""The official reading of a call in Java source text.

Its oddities are kept: places counted in bytes are used on characters, a body in braces after `new T()` is lost,
and of several calls the first is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fcall.decoding.bfcl.named_arguments import named_once
from pytest_fcall.decoding.bfcl.source_tree import parsed
from pytest_fcall.decoding.bfcl.undecodable import Undecodable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_AS_WRITTEN = frozenset({"identifier", "class_literal", "type_identifier", "method_invocation"})
_QUOTED = frozenset({"string_literal", "character_literal"})
_UNNAMED = frozenset({"identifier", "class_literal", "set"})


def decode_java(source: str) -> object:
    """Read the first call: `[{name: {argument: text}}]`, or `{}` where there is none."""
    import tree_sitter_java
    from tree_sitter import Language

    root = parsed(source, Language(tree_sitter_java.language()))
    try:
        return _Reader(source).first_call(root) or {}
    except RecursionError:
        raise Undecodable("the source text is nested too deeply") from None


class _Reader:
    """Gives texts of nodes as the official parser does."""

    def __init__(self, source: str) -> None:
        self.source = source

    def first_call(self, node: Node) -> object:
        if node.type != "method_invocation":
            return next(filter(None, map(self.first_call, node.children)), None)
        name, owner, arguments = map(node.child_by_field_name, ("name", "object", "arguments"))
        if name is None or arguments is None:
            return None
        full = self.text(name) if owner is None else f"{self.text(owner)}.{self.text(name)}"
        return [{full: named_once(self.arguments(arguments))}]

    def arguments(self, node: Node) -> Iterator[tuple[str | None, str]]:
        for child in node.children:
            if child.type == "assignment_expression":
                if len(child.children) < 3:
                    raise Undecodable("an argument has no value")
                yield self.text(child.children[0]), self.value(child.children[2])
            elif child.type in _UNNAMED:
                yield None, self.value(child)

    def value(self, node: Node) -> str:
        return self.text(node)[1:-1] if node.type in _QUOTED else self.inner(node)

    def inner(self, node: Node | None) -> str:
        """Give the text of a value within another one, or of one without quotes."""
        if node is None:
            raise Undecodable("an array is created without its items")
        if node.type in _QUOTED or node.type in _AS_WRITTEN:
            return self.text(node)
        if node.type == "array_creation_expression":
            kind, items = map(node.child_by_field_name, ("type", "value"))
            return f"new {self.inner(kind)}[]{self.inner(items)}"
        if node.type == "object_creation_expression":
            return self.creation(node)
        return "".join(map(self.inner, node.children)) if node.child_count else self.text(node)

    def creation(self, node: Node) -> str:
        kind, arguments = map(node.child_by_field_name, ("type", "arguments"))
        given = () if arguments is None else arguments.children
        texts = ", ".join(self.inner(each) for each in given if each.type not in (",", "(", ")"))
        return f"new {self.inner(kind)}({texts})"

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte]
