"""The official reading of a call in JavaScript source text: values stay text, less one pair of quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fcall.decoding.bfcl.named_arguments import named_once
from pytest_fcall.decoding.bfcl.source_tree import parsed
from pytest_fcall.decoding.bfcl.undecodable import Undecodable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def decode_javascript(source: str) -> object:
    """Read the first call that is a statement of its own: `[{name: {argument: text}}]`, or None without one."""
    import tree_sitter_javascript
    from tree_sitter import Language

    root = parsed(source, Language(tree_sitter_javascript.language()))
    statements = (child for child in root.children if child.type == "expression_statement")
    calls = (part for statement in statements for part in statement.children if part.type == "call_expression")
    call = next(calls, None)
    if call is None:
        return None
    return [{_text(call.children[0]): named_once(_arguments(call.children[1]))}]


def _arguments(node: Node) -> Iterator[tuple[str | None, str]]:
    for child in node.children:
        if child.type == "assignment_expression":
            if len(child.children) < 3:
                raise Undecodable("an argument has no value")
            yield _text(child.children[0]), _unquoted(_text(child.children[2]))
        elif child.type in ("identifier", "true"):
            yield None, _text(child)


def _unquoted(text: str) -> str:
    quoted = any(text.startswith(quote) and text.endswith(quote) for quote in "\"'")
    return text[1:-1] if quoted else text


def _text(node: Node) -> str:
    return (node.text or b"").decode()
