"""A call written in JavaScript, as the official decoder reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fcall.decoding.bfcl.undecodable import Undecodable
from pytest_fcall.decoding.languages.tree import NotSource, parse

if TYPE_CHECKING:
    from tree_sitter import Node


def decode_javascript(text: str) -> object:
    """Read the first statement that is a call; None where there is none."""
    try:
        root = parse(text.encode(), "javascript")
    except (NotSource, UnicodeEncodeError) as error:
        raise Undecodable(f"the text: {error}") from None
    for statement in root.children:
        if statement.type == "expression_statement":
            for part in statement.children:
                if part.type == "call_expression":
                    return [{_part(part.children[0]): _arguments(part.children[1])}]
    return None


def _arguments(node: Node) -> dict[object, object]:
    found: dict[object, object] = {}
    for child in node.children:
        if child.type == "assignment_expression":
            name: str | None = _part(child.children[0])
            value = _unquoted(_part(child.children[2]))
        elif child.type in {"identifier", "true"}:
            name, value = None, _part(child)
        else:
            continue
        if name in found:
            raise Undecodable("an argument stands twice")
        found[name] = value
    return found


def _unquoted(source: str) -> str:
    """Take away quotes at both ends, whether or not they belong together."""
    return source[1:-1] if source[:1] in {'"', "'"} and source.endswith(source[0]) else source


def _part(node: Node) -> str:
    return (node.text or b"").decode()
