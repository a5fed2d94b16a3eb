"""Stands in for PyYAML's module over libyaml: PyYAML's own parser in Python, which words its errors as libyaml does."""

from __future__ import annotations

from yaml.composer import Composer
from yaml.error import Mark, MarkedYAMLError
from yaml.nodes import Node
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError
from yaml.tokens import ScalarToken

_BREAKS = "\r\n\x85\u2028\u2029"
_BLANK = f"\0 \t{_BREAKS}"
_WORDS = (
    ("expected a comment or a line break", "did not find expected comment or line break"),
    ("expected chomping or indentation indicators", "did not find expected comment or line break"),
    ("expected <block end>, but found", "did not find expected key"),
    ("expected ',' or ']', but got", "did not find expected ',' or ']'"),
    ("expected ',' or '}', but got", "did not find expected ',' or '}'"),
    ("expected alphabetic or numeric character", "did not find expected alphabetic or numeric character"),
    ("expected '<document start>'", "did not find expected <document start>"),
    ("expected the node content, but found", "did not find expected node content"),
    ("mapping values are not allowed here", "mapping values are not allowed in this context"),
    ("sequence entries are not allowed here", "block sequence entries are not allowed in this context"),
    ("found duplicate anchor", "second occurrence"),
    ("found undefined alias", "found undefined alias"),
    ("found unknown escape character", "found unknown escape character"),
    ("found incompatible YAML document", "found incompatible YAML document"),
    ("but found another document", "but found another document"),
)
"""How PyYAML's messages begin, and what libyaml says instead."""


class CParser(Reader, Scanner, Parser, Composer):  # type: ignore[misc]  # as PyYAML's loaders are made
    """Has the methods of libyaml's parser that are used."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)

    def get_single_node(self) -> Node | None:
        """The node of the only document; None for an empty text."""
        try:
            return super().get_single_node()
        except MarkedYAMLError as error:
            _reword(error)
            raise

    def scan_to_next_token(self) -> None:
        """Skip spaces and comments, and tabs where no indentation can be meant."""
        while True:
            while self.peek() == " " or (self.peek() == "\t" and (self.flow_level or not self.allow_simple_key)):
                self.forward()
            if self.peek() == "#":
                while self.peek() not in f"\0{_BREAKS}":
                    self.forward()
            if not self.scan_line_break():
                return
            if not self.flow_level:
                self.allow_simple_key = True

    def scan_plain(self) -> ScalarToken:
        """An unquoted scalar. In brackets, it may have a question mark, and no colon before one of them."""
        chunks: list[str] = []
        spaces: list[str] = []
        start = end = self.get_mark()
        indent = self.indent + 1
        while self.peek() != "#" and (length := self._plain_length(start)):
            self.allow_simple_key = False
            chunks += [*spaces, self.prefix(length)]
            self.forward(length)
            end = self.get_mark()
            spaces = self.scan_plain_spaces(indent, start)
            if not spaces or (not self.flow_level and self.column < indent):
                break
        return ScalarToken("".join(chunks), True, start, end)

    def _plain_length(self, start: Mark) -> int:
        length = 0
        while (letter := self.peek(length)) not in _BLANK:
            after = self.peek(length + 1)
            if letter == ":" and self.flow_level and after in ",?[]{}":
                self.forward(length)
                raise ScannerError("while scanning a plain scalar", start, "found unexpected ':'", self.get_mark())
            if (letter == ":" and after in _BLANK) or (self.flow_level and letter in ",[]{}"):
                break
            length += 1
        return length

    def scan_plain_spaces(self, indent: int, start: Mark) -> list[str]:
        """What stands for the spaces and line breaks behind a part of an unquoted scalar."""
        length = 0
        while self.peek(length) in " \t":
            length += 1
        spaces = self.prefix(length)
        self.forward(length)
        if self.peek() not in _BREAKS:
            return [spaces] if spaces else []
        first, breaks = self.scan_line_break(), []
        self.allow_simple_key = True
        if self._at_document_mark():
            return []
        while self.peek() in f" \t{_BREAKS}":
            if self.peek() == "\t" and self.column < indent:
                problem = "found a tab character that violates indentation"
                raise ScannerError("while scanning a plain scalar", start, problem, self.get_mark())
            if self.peek() in " \t":
                self.forward()
            else:
                breaks.append(self.scan_line_break())
                if self._at_document_mark():
                    return []
        return [*([first] if first != "\n" else [] if breaks else [" "]), *breaks]

    def _at_document_mark(self) -> bool:
        return self.prefix(3) in ("---", "...") and self.peek(3) in _BLANK


def _reword(error: MarkedYAMLError) -> None:
    said = error.problem or ""
    if said.startswith("expected <block end>") and error.context == "while parsing a block collection":
        error.problem = "did not find expected '-' indicator"
    elif said.startswith("found character") and said.endswith("that cannot start any token"):
        error.problem = "found character that cannot start any token"
    else:
        error.problem = next((words for begin, words in _WORDS if said.startswith(begin)), said)
