"""Calls written in Java and JavaScript, as the official decoders read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.decoding.source_code.syntax_tree import NotSource, parse_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node


_WHOLE_NODES = frozenset(
    {"string_literal", "character_literal", "identifier", "class_literal", "type_identifier", "method_invocation"}
)
# The parser of the official decoder is older. It reads these words as names where no statement can be, most also behind
# what ends the text, and some of them and a few others as the name of an element (`<null/>`). It does not know `using`.
_RESERVED_WORDS = rb"""break|case|catch|const|continue|debugger|default|do|else|extends|finally|for|if|in|instanceof
    |return|switch|throw|try|var|while|with"""
_RESERVED = re.compile(
    rb"""\b(using)\b
    |(?:[=(,\[?!+-]|(?:^|[;{}])(?=\s*+(?:in|instanceof)\b)
    |(?:^|[;{}\n])(?=\s*+(?:case|catch|default|else|extends|finally)\b))\s*+
    \b(%(words)b)\b (?=[^\S\n]*+(?:\s*+[][=,.;:(){}]|\n|/[/*]|\Z))
    |(?<=[\w\])"'])[^\S\n]++
    (break|case|catch|continue|debugger|default|do|else|extends|finally|return)\b (?=\s*+;?\s*+\Z)
    | <\s*+(%(words)b|export|false|null|super|this|true)\b"""
    % {b"words": _RESERVED_WORDS},
    re.VERBOSE,
)


def decode_java(text: str) -> object:
    """Read the first call in the text; an empty mapping where there is none. Raises Undecodable."""
    try:
        root = parse_source(text.encode(), "java")
    except (NotSource, UnicodeEncodeError) as error:
        raise Undecodable(f"the text: {error}") from None
    call = _first_call(root)
    return {} if call is None else [_JavaReader(text).call(call)]


def _first_call(root: Node) -> Node | None:
    """Give the first call in the order of the text, the outermost of nested ones."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "method_invocation":
            return node
        waiting.extend(reversed(node.children))
    return None


class _JavaReader:
    """Takes parts out of the text by the positions of the parser.

    Positions count bytes, but the official decoder uses them as if they counted characters. After a character outside
    ASCII its parts are shifted, and so are these.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def call(self, node: Node) -> dict[object, object]:
        name, owner, arguments = map(node.child_by_field_name, ("name", "object", "arguments"))
        parts = [self._part(part) for part in (owner, name) if part is not None]
        given = _arguments(arguments, {"identifier", "class_literal"}, self._part, self._value) if arguments else {}
        return {".".join(parts): given}

    def _value(self, node: Node) -> str:
        if node.type in {"string_literal", "character_literal"}:
            return self._part(node)[1:-1]
        return self._source(node)

    def _source(self, node: Node) -> str:
        """Join the parts of a value, without white space and most of the tokens between them."""
        if node.type == "array_creation_expression":
            type_node, items = node.child_by_field_name("type"), node.child_by_field_name("value")
            if type_node is None or items is None:
                raise Undecodable("an array is created without its items")
            return f"new {self._source(type_node)}[]{self._source(items)}"
        if node.type == "object_creation_expression":
            return self._object_creation(node)
        if node.type in _WHOLE_NODES or not node.children:
            return self._part(node)
        return "".join(map(self._source, node.children))

    def _object_creation(self, node: Node) -> str:
        """Give `new T(…)` without the body of an anonymous class, which has the entries of most maps."""
        type_node, arguments = node.child_by_field_name("type"), node.child_by_field_name("arguments")
        values = [child for child in arguments.children if child.type not in {",", "(", ")"}] if arguments else []
        return f"new {self._source(type_node) if type_node else ''}({', '.join(map(self._source, values))})"

    def _part(self, node: Node) -> str:
        return self._text[node.start_byte : node.end_byte]


def decode_javascript(text: str) -> object:
    """Read the first statement that is a call; None where there is none. Raises Undecodable."""
    try:
        source = text.encode()
        root = parse_source(_RESERVED.sub(_as_name, source), "javascript")
    except (NotSource, UnicodeEncodeError) as error:
        raise Undecodable(f"the text: {error}") from None
    for statement in root.children:
        if statement.type == "expression_statement":
            for part in statement.children:
                if part.type == "call_expression":
                    return [_javascript_call(part, source)]
    return None


def _as_name(found: re.Match[bytes]) -> bytes:
    start, end = found.span(found.lastindex or 0)
    return found[0][: start - found.start()] + b"_" * (end - start)


def _javascript_call(node: Node, source: bytes) -> dict[object, object]:
    def text(part: Node) -> str:
        return source[part.start_byte : part.end_byte].decode()

    name, arguments = node.children[:2]
    given = _arguments(arguments, {"identifier", "true"}, text, lambda part: _unquoted(text(part)))
    return {text(name): given}


def _unquoted(source: str) -> str:
    """Remove the first and the last character of a text that begins with a quote and ends with the same one."""
    return source[1:-1] if source[:1] in {'"', "'"} and source.endswith(source[0]) else source


def _arguments(
    node: Node, unnamed: set[str], text: Callable[[Node], str], value: Callable[[Node], str]
) -> dict[object, object]:
    """Give the arguments `name = value`, and under None the one whose node type is among `unnamed`."""
    arguments: dict[object, object] = {}
    for child in node.children:
        if child.type == "assignment_expression":
            name: str | None = text(child.children[0])
            argument = value(child.children[2])
        elif child.type in unnamed:
            name, argument = None, text(child)
        else:
            continue
        if name in arguments:
            raise Undecodable("an argument is given twice")
        arguments[name] = argument
    return arguments
