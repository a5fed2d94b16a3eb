"""libyaml's parser with the scalars of YAML 1.2, and its errors in words that say how to correct the file.

Importing this module fails if PyYAML was built without libyaml.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode
from yaml._yaml import CParser

from pytest_fcall.cases.faults import SourceFile, quote
from pytest_fcall.cases.yaml.values import BOOL, FLOAT, INT, MAP, MERGE, NULL, SEQ, STR
from pytest_fcall.core.case import Fault

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
_LAYOUT = "check the indentation here and in the lines above"
_QUOTES = "quote a string that contains `: ` or ` #`; otherwise check the indentation"


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


class _Problem(NamedTuple):
    """Message and hint for a problem. With `at_context` its position is where the broken element begins."""

    message: str
    hint: str = ""
    at_context: bool = False


_PROBLEMS = {
    "mapping values are not allowed in this context": _Problem("unexpected `:`", _QUOTES),
    "did not find expected key": _Problem("expected a `key:`", _LAYOUT),
    "did not find expected '-' indicator": _Problem("expected `- `, as in the lines above", _LAYOUT),
    "could not find expected ':'": _Problem("expected a `key:`", _QUOTES, at_context=True),
    "did not find expected ',' or ']'": _Problem("this list is not closed: `,` or `]` is missing", at_context=True),
    "did not find expected ',' or '}'": _Problem("this mapping is not closed: `,` or `}` is missing", at_context=True),
    "did not find expected node content": _Problem("a value is missing here, or a bracket above is not closed"),
    "found unexpected end of stream": _Problem("this quoted string is not closed", at_context=True),
    "but found another document": _Problem("a second document begins here", "keep one document in a file"),
    "second occurrence": _Problem("duplicate anchor", "give each anchor its own name"),
    "found undefined tag handle": _Problem("unknown tag", "quote a string that begins with `!`"),
    "found invalid Unicode character escape code": _Problem("this escape is not a character"),
    "found unknown escape character": _Problem("unknown escape", "in double quotes write `\\\\` for a backslash"),
    "block sequence entries are not allowed in this context": _Problem("unexpected `- `", _LAYOUT),
    "found incompatible YAML document": _Problem("unsupported version of YAML", "leave the `%YAML` line out"),
}
_CHARACTERS = {
    "\t": _Problem("a tab is not allowed here", "indent with spaces"),
    "@": _Problem("a string must not begin with `@`", "put it in quotes"),
    "`": _Problem("a string must not begin with a back quote", "put it in quotes"),
    "%": _Problem("a string must not begin with `%`", "put it in quotes"),
}
# The patterns stay strings, which `re` compiles at first use: few files have errors.
_CONFLICT = r"(?m)^<{7} "
_ALIAS = r"[^\s,\[\]{}]+"


def syntax_fault(source: SourceFile, error: yaml.MarkedYAMLError) -> Fault:
    """The fault for an error of the parser, at the position where the file needs to be corrected."""
    if conflict := re.search(_CONFLICT, source.text):
        hint = "keep the lines of one side or of both, and delete the three lines of markers"
        return source.fault("merge-conflict", source.place(conflict.start()), "an unresolved merge conflict", hint)
    mark = error.problem_mark or error.context_mark
    text = error.problem or "it cannot be parsed"
    rest = source.line(mark.line + 1)[mark.column :] if mark else ""
    problem = _PROBLEMS.get(text)
    if text == "found character that cannot start any token":
        problem = _CHARACTERS.get(rest[:1])
    elif text == "found undefined alias":
        name = re.match(_ALIAS, rest)
        message = f"the alias {quote(name.group() if name else rest)} has no anchor before it"
        problem = _Problem(message, "quote a string that begins with `*`")
    if problem is None:
        context = f" {error.context}" if error.context else ""
        problem = _Problem(f"invalid YAML:{context} {text}".replace("  ", " "), _LAYOUT)
    place = (error.context_mark or mark) if problem.at_context else mark
    return source.fault("yaml", place, problem.message, problem.hint)
