"""libyaml's parser with the scalars of YAML 1.2. Importing this module fails if PyYAML was built without libyaml."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from yaml import MappingNode, Node, ScalarNode, SequenceNode
from yaml._yaml import CParser

from pytest_fcall.cases.yaml.values import BOOL, FLOAT, INT, MAP, MERGE, NULL, SEQ, STR

Index: TypeAlias = "Node | int | None"

_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), NULL),
    **dict.fromkeys(("true", "True", "TRUE", "false", "False", "FALSE"), BOOL),
    "<<": MERGE,
}
# A number has no leading plus or zero: `+4712345678` and `01234` are telephone numbers and codes.
_NUMBER = re.compile(
    r"""
    (?P<int> -?(?:0|[1-9][0-9]*) | 0o[0-7]+ | 0x[0-9a-fA-F]+ )
  | -?(?: \.[0-9]+ | (?:0|[1-9][0-9]*)(?:\.[0-9]*)? )(?:[eE][-+]?[0-9]+)?
  | [-+]?\.(?:inf|Inf|INF) | \.(?:nan|NaN|NAN)
    """,
    re.VERBOSE,
)
_FIRST_LETTERS = frozenset({*"-+.0123456789", *(word[0] for word in _WORDS if word)})
"""The letters with which numbers and words of other types begin."""


class TooDeep(Exception):
    """The document is nested deeper than the limit. Without a limit, libyaml would overflow the C stack."""

    def __init__(self, parent: Node) -> None:
        super().__init__()
        self.node = parent


class TooMany(Exception):
    """More values than the limit would have to be held at a time."""

    def __init__(self, parent: Node | None) -> None:
        super().__init__()
        self.node = parent


class Composer(CParser):
    """Makes the nodes of one document.

    With `take`, each item of the top-level list `cases` but the last is given to it as soon as it is complete, together
    with the root, and then forgotten: the nodes of ten thousand cases need twenty times the memory of the file.
    """

    def __init__(
        self, text: str, max_depth: int, max_nodes: int, take: Callable[[Node, Node], None] | None = None
    ) -> None:
        super().__init__(text)
        self._max_depth = max_depth
        self._max_nodes = max_nodes
        self._nodes = 0
        """The nodes that are held, from the last that was given away."""
        self._take = take
        self._parents: list[Node | None] = []
        """The nodes that are not complete, from the root down."""
        self.ascend_resolver = self._parents.pop
        """Called by the parser after each node."""
        self._root: Node | None = None
        """The root while its `cases` are parsed."""

    def resolve(self, kind: type[Node], value: str | None, implicit: tuple[bool, bool] | bool) -> str:
        """The tag of an untagged node. Called by the parser."""
        if value is None:
            return MAP if kind is MappingNode else SEQ
        if not implicit[0]:  # type: ignore[index]  # a pair for scalars
            return STR
        if value and value[0] not in _FIRST_LETTERS:
            return STR  # as nearly all texts
        tag = _WORDS.get(value)
        if tag is None:
            found = _NUMBER.fullmatch(value)
            tag = STR if found is None else INT if found.lastgroup else FLOAT
        return tag

    def descend_resolver(self, parent: Node | None, index: Index) -> None:
        """Check depth and number, and give complete cases away. Called by the parser before each node."""
        self._parents.append(parent)
        self._nodes += 1
        if self._nodes > self._max_nodes:
            raise TooMany(parent)
        depth = len(self._parents)
        if depth > 3:
            if depth > self._max_depth and parent is not None:
                raise TooDeep(parent)
        elif depth == 3:
            if self._root and self._take and isinstance(parent, SequenceNode) and parent.value:
                self._take(self._root, parent.value.pop())
                self._nodes = 0
        elif depth == 2:
            self._root = parent if isinstance(index, ScalarNode) and index.value == "cases" else None
