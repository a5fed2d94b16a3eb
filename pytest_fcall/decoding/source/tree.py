"""Java and JavaScript as syntax trees, from text that nobody has checked."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_fcall.decoding.limits import DEEPEST

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Parser

SourceLanguage: TypeAlias = Literal["java", "javascript"]

LONGEST = 10_000
"""Bytes that are still read: mending broken text costs a parser more than linear time."""


class NotSource(ValueError):
    """The text says why, without a full stop."""


def parse(source: bytes, language: SourceLanguage) -> Node:
    """Give the root of a tree without errors; what the parser put in itself (a semicolon, mostly) is no error."""
    if len(source) > LONGEST:
        raise NotSource(f"it has more than {LONGEST:,} bytes")
    if len(source) > _HARMLESS and source.count(b"/*") > _MOST_COMMENTS:
        raise NotSource("it holds too many comments")  # each is looked for up to the end
    from tree_sitter import Parser

    parser = Parser(_grammar(language))
    root = parser.parse(source).root_node if len(source) <= _HARMLESS else _watched(parser, source)
    if root.has_error or root.descendant_count > DEEPEST:
        _check(root, language)
    return root


_HARMLESS = 1_000
_MOST_MENDED = 100
_MOST_COMMENTS = 20
_NAMES = {"java": "Java", "javascript": "JavaScript"}


@cache
def _grammar(language: SourceLanguage) -> Grammar:
    from tree_sitter import Language as Grammar

    if language == "java":
        import tree_sitter_java

        return Grammar(tree_sitter_java.language())
    import tree_sitter_javascript

    return Grammar(tree_sitter_javascript.language())


def _watched(parser: Parser, source: bytes) -> Node:
    """Give up on text that the parser mends again and again, or goes over again and again."""
    mended = rounds = 0

    def note(_: object, step: str) -> None:
        nonlocal mended
        mended += step.startswith(("recover", "skip_token"))

    def is_enough(*_: object) -> bool:
        nonlocal rounds
        rounds += 1  # of a hundred steps; sound source takes up to six a byte
        return mended > _MOST_MENDED or rounds > len(source) // 10

    parser.logger = note
    try:
        return parser.parse(lambda offset, _: source[offset:], progress_callback=is_enough).root_node
    except ValueError:
        raise NotSource("it is broken in many places, or ambiguous") from None


def _check(root: Node, language: SourceLanguage) -> None:
    level = [root]
    for _ in range(DEEPEST):
        if any(node.is_error for node in level):
            raise NotSource(f"it is not {_NAMES[language]}")
        level = [child for node in level for child in node.children]
        if not level:
            return
    raise NotSource("it is nested too deep")
