"""A call written in Java, as the official decoder reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fcall.decoding.bfcl.undecodable import Undecodable
from pytest_fcall.decoding.source.tree import NotSource, parse

if TYPE_CHECKING:
    from tree_sitter import Node


def decode_java(text: str) -> object:
    """Read the first call in the text; an empty mapping where there is none."""
    try:
        root = parse(text.encode(), "java")
    except (NotSource, UnicodeEncodeError) as error:
        raise Undecodable(f"the text: {error}") from None
    call = _first_call(root)
    return {} if call is None else [_Reader(text).call(call)]


def _first_call(root: Node) -> Node | None:
    """Give the first call in the order of the text, the outermost where it holds others."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "method_invocation":
            return node
        waiting.extend(reversed(node.children))
    return None


class _Reader:
    """Takes parts out of the text by the parser's places.

    Those count bytes, and the official decoder takes them for characters: after a character outside ASCII its
    parts are shifted, and so are these.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def call(self, node: Node) -> dict[object, object]:
        name, owner, arguments = map(node.child_by_field_name, ("name", "object", "arguments"))
        parts = [self._part(part) for part in (owner, name) if part is not None]
        return {".".join(parts): self._arguments(arguments) if arguments else {}}

    def _arguments(self, node: Node) -> dict[object, object]:
        found: dict[object, object] = {}
        for child in node.children:
            if child.type == "assignment_expression":
                name: str | None = self._part(child.children[0])
                value = self._value(child.children[2])
            elif child.type in {"identifier", "class_literal"}:
                name, value = None, self._part(child)
            else:
                continue
            if name in found:
                raise Undecodable("an argument stands twice")
            found[name] = value
        return found

    def _value(self, node: Node) -> str:
        if node.type in {"string_literal", "character_literal"}:
            return self._part(node)[1:-1]
        return self._source(node)

    def _source(self, node: Node) -> str:
        """Put the parts of a value together again, without the white space and some of what stands between."""
        if node.type == "array_creation_expression":
            made, items = node.child_by_field_name("type"), node.child_by_field_name("value")
            if made is None or items is None:
                raise Undecodable("an array is made without its items")
            return f"new {self._source(made)}[]{self._source(items)}"
        if node.type == "object_creation_expression":
            return self._made(node)
        if node.type in _WHOLE or not node.children:
            return self._part(node)
        return "".join(map(self._source, node.children))

    def _made(self, node: Node) -> str:
        """Leave out the body of a class without a name: the entries of most maps stand there."""
        made, arguments = node.child_by_field_name("type"), node.child_by_field_name("arguments")
        values = [child for child in arguments.children if child.type not in {",", "(", ")"}] if arguments else []
        return f"new {self._source(made) if made else ''}({', '.join(map(self._source, values))})"

    def _part(self, node: Node) -> str:
        return self._text[node.start_byte : node.end_byte]


_WHOLE = frozenset(
    {"string_literal", "character_literal", "identifier", "class_literal", "type_identifier", "method_invocation"}
)
