"""Source text as a syntax tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fcall.decoding.bfcl.undecodable import Undecodable

if TYPE_CHECKING:
    from tree_sitter import Language, Node

LONGEST = 100_000
"""Characters of source text that are still parsed; calls of real models have a few hundred."""


def parsed(source: str, language: Language) -> Node:
    """Give the root of the tree. Undecodable where a part of the text could not be read.

    A token that the parser had to add, such as a semicolon at the end, is no such part.
    """
    from tree_sitter import Parser

    if len(source) > LONGEST:
        raise Undecodable(f"the source text has more than {LONGEST:,} characters")
    try:
        data = source.encode()
    except UnicodeEncodeError:
        raise Undecodable("the source text holds half of a character") from None
    root = Parser(language).parse(data).root_node
    if root.has_error and _has_unread_part(root):
        raise Undecodable("the source text has a syntax error")
    return root


def _has_unread_part(root: Node) -> bool:
    # With a cursor: a tree may be as deep as its text is long.
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and node.is_error:
            return True
        if node is not None and node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return False
