"""libyaml's parser, told to read scalars as YAML 1.2 does. Importing this fails where PyYAML lacks libyaml."""

from __future__ import annotations

import re
from typing import TypeAlias

from yaml import Node, ScalarNode
from yaml._yaml import CParser

from pytest_fcall.cases.yaml_tags import BOOL, FLOAT, INT, MAP, MERGE, NULL, SEQ, STR

Index: TypeAlias = "Node | int | None"

# A leading plus or zero makes no number: `+4712345678` and `01234` are telephone numbers and codes.
_PLAIN = re.compile(
    r"""
    (?P<null> | ~ | null | Null | NULL )
  | (?P<bool> true | True | TRUE | false | False | FALSE )
  | (?P<int> -?(?:0|[1-9][0-9]*) | 0o[0-7]+ | 0x[0-9a-fA-F]+ )
  | (?P<float> -?(?: \.[0-9]+ | (?:0|[1-9][0-9]*)(?:\.[0-9]*)? )(?:[eE][-+]?[0-9]+)?
             | [-+]?\.(?:inf|Inf|INF) | \.(?:nan|NaN|NAN) )
  | (?P<merge> << )
    """,
    re.VERBOSE,
)
_TAGS = {"null": NULL, "bool": BOOL, "int": INT, "float": FLOAT, "merge": MERGE}
_FIRST = frozenset("-+.0123456789~nNtTfF<")


class TooDeep(Exception):
    """The document nests deeper than anything a person writes; libyaml itself would overflow the C stack."""

    def __init__(self, parent: Node) -> None:
        super().__init__()
        self.node = parent


class Composer(CParser):
    """Makes nodes of YAML text. One document, one use."""

    def __init__(self, text: str, max_depth: int) -> None:
        super().__init__(text)
        self._depth = 0
        self._max_depth = max_depth

    def resolve(self, kind: type[Node], value: str | None, implicit: tuple[bool, bool] | bool) -> str:
        """Give an untagged node its tag. Called by the parser."""
        if kind is ScalarNode:
            if implicit[0] and (not value or value[0] in _FIRST):  # type: ignore[index]  # a pair for scalars
                found = _PLAIN.fullmatch(value or "")
                return _TAGS[found.lastgroup or "null"] if found else STR
            return STR
        return MAP if kind.__name__ == "MappingNode" else SEQ

    def descend_resolver(self, parent: Node | None, _index: Index) -> None:
        """Count the depth. Called by the parser before each node."""
        self._depth += 1
        if self._depth > self._max_depth and parent is not None:
            raise TooDeep(parent)

    def ascend_resolver(self) -> None:
        """Count the depth. Called by the parser after each node."""
        self._depth -= 1
