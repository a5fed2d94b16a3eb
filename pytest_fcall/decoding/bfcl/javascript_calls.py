"""A call written in JavaScript, as the official decoder reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_fcall.decoding.bfcl.undecodable import Undecodable
from pytest_fcall.decoding.source.tree import NotSource, parse

if TYPE_CHECKING:
    from tree_sitter import Node


def decode_javascript(text: str) -> object:
    """Read the first statement that is a call; None where there is none."""
    try:
        source = text.encode()
        root = parse(_RESERVED.sub(_as_name, source), "javascript")
    except (NotSource, UnicodeEncodeError) as error:
        raise Undecodable(f"the text: {error}") from None
    for statement in root.children:
        if statement.type == "expression_statement":
            for part in statement.children:
                if part.type == "call_expression":
                    name, arguments = part.children[:2]
                    return [{_text(name, source): _arguments(arguments, source)}]
    return None


# The parser of the official decoder is older: it takes these words for names where no statement can stand, and all but
# those that begin a value also as the name of an element (`<null/>`).
_WORDS = rb"""break|case|catch|const|continue|debugger|default|do|else|extends|finally|for|if|in|instanceof|return
    |switch|throw|try|using|var|while|with"""
_RESERVED = re.compile(
    rb"""(?:[=(,\[?!+-]|(?:^|[;{}])(?=\s*+(?:in|instanceof)\b)
    |(?:^|[;{}\n])(?=\s*+(?:case|catch|default|else|extends|finally|using)\b))\s*+
    \b(%(words)b)\b (?=[^\S\n]*+(?:\s*+[][=,.;:(){}]|\n|/[/*]|\Z))
    | <\s*+(%(words)b|export|false|null|super|this|true)\b"""
    % {b"words": _WORDS},
    re.VERBOSE,
)


def _as_name(found: re.Match[bytes]) -> bytes:
    start, end = found.span(found.lastindex or 0)
    return found[0][: start - found.start()] + b"_" * (end - start)


def _arguments(node: Node, source: bytes) -> dict[object, object]:
    found: dict[object, object] = {}
    for child in node.children:
        if child.type == "assignment_expression":
            name: str | None = _text(child.children[0], source)
            value = _unquoted(_text(child.children[2], source))
        elif child.type in {"identifier", "true"}:
            name, value = None, _text(child, source)
        else:
            continue
        if name in found:
            raise Undecodable("an argument stands twice")
        found[name] = value
    return found


def _unquoted(source: str) -> str:
    """Take away quotes at both ends, whether or not they belong together."""
    return source[1:-1] if source[:1] in {'"', "'"} and source.endswith(source[0]) else source


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode()
