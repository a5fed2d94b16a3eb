"""Case files as YAML nodes: encoding, size limits and syntax errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import yaml
from yaml import Node

from pytest_fcall.cases.faults import SourceFile, UnreadableFile, shown
from pytest_fcall.cases.yaml.tags import MAP, SCALAR_TAGS, SEQ, short_tag
from pytest_fcall.core import Fault

_LAYOUT = "look at the indentation here and in the lines above"
_QUOTES = "a text with `: ` or ` #` in it needs quotes; else look at the indentation"


class _Words(NamedTuple):
    """What to say of a problem; with `at_context` the place is where the broken thing began."""

    message: str
    hint: str = ""
    at_context: bool = False


_PROBLEMS = {
    "mapping values are not allowed in this context": _Words("a `:` may not stand here", _QUOTES),
    "did not find expected key": _Words("a `key:` should stand here", _LAYOUT),
    "did not find expected '-' indicator": _Words("a `- ` should stand here, as in the lines above", _LAYOUT),
    "could not find expected ':'": _Words("a `key:` should stand here", _QUOTES, at_context=True),
    "did not find expected ',' or ']'": _Words("this list is not closed: `,` or `]` is missing", at_context=True),
    "did not find expected ',' or '}'": _Words("this mapping is not closed: `,` or `}` is missing", at_context=True),
    "did not find expected node content": _Words("a value is missing here, or a bracket above is not closed"),
    "found unexpected end of stream": _Words("this quoted text is not closed", at_context=True),
    "but found another document": _Words("a second document begins here", "keep one document in a file"),
    "second occurrence": _Words("this anchor's name is taken", "give each anchor a name of its own"),
    "found undefined tag handle": _Words("this tag is not known", "quote a text that begins with `!`"),
    "found invalid Unicode character escape code": _Words("this escape is no character"),
    "found unknown escape character": _Words("this is no escape", "in double quotes write `\\\\` for a backslash"),
    "block sequence entries are not allowed in this context": _Words("a `- ` may not stand here", _LAYOUT),
    "found incompatible YAML document": _Words("this version of YAML is not read", "leave the `%YAML` line out"),
}
_CHARACTERS = {
    "\t": _Words("a tab stands where YAML wants spaces", "indent with spaces"),
    "@": _Words("a text may not begin with `@`", "put it in quotes"),
    "`": _Words("a text may not begin with a back quote", "put it in quotes"),
    "%": _Words("a text may not begin with `%`", "put it in quotes"),
}
_ALIAS = re.compile(r"[^\s,\[\]{}]+")


def syntax_fault(source: SourceFile, error: yaml.MarkedYAMLError) -> Fault:
    """Tell a parser's error as a Fault at the place where a person would mend it."""
    mark = error.problem_mark or error.context_mark
    problem = error.problem or "it cannot be read"
    rest = source.line(mark.line + 1)[mark.column :] if mark else ""
    words = _PROBLEMS.get(problem)
    if problem == "found character that cannot start any token":
        words = _CHARACTERS.get(rest[:1])
    elif problem == "found undefined alias":
        name = _ALIAS.match(rest)
        message = f"no anchor stands before the alias {shown(name.group() if name else rest)}"
        words = _Words(message, "quote a text that begins with `*`")
    if words is None:
        context = f" {error.context}" if error.context else ""
        words = _Words(f"this is no YAML:{context} {problem}".replace("  ", " "), _LAYOUT)
    place = (error.context_mark or mark) if words.at_context else mark
    return source.fault("yaml", place, words.message, words.hint)


MAX_DEPTH = 100
MAX_BYTES = 64 * 1024 * 1024
MAX_ALIASED = 1_000_000
"""How many nodes aliases may stand for beyond those written."""

_COLLECTIONS = frozenset((MAP, SEQ))
_NO_MAPPING = SCALAR_TAGS | {SEQ}
_NO_LIST = SCALAR_TAGS | {MAP}
_CASES = re.compile(r"^cases:[ \t]*(?:#.*)?\r?$", re.MULTILINE)
_TOP_LEVEL = re.compile(r"^[^\s#-]", re.MULTILINE)
_UNPRINTABLE = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WIDE = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def read_text(path: Path, shown_as: str) -> SourceFile:
    """The text of a file, without a byte order mark."""
    source = SourceFile(shown_as)
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= MAX_BYTES else b""
    except OSError as error:
        raise _unreadable(source, "unreadable-file", 0, f"the file cannot be read: {error.strerror}") from error
    if size > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES // 2**20} MiB"
        raise _unreadable(source, "too-large", 0, message, "split it into several files")
    return SourceFile(shown_as, _decoded(data, source))


def read_yaml(source: SourceFile, take: Callable[[Node, Node], None] | None = None) -> Node | None:
    """The one document of a text, or None where nothing but comments stands there.

    Where `cases:` stand last, all but the last of them are given to `take` one by one, with the root as far as it is
    known by then, and are missing from the result.
    """
    try:
        from pytest_fcall.cases.yaml.composer import Composer, TooDeep
    except ImportError as error:
        message = "PyYAML is installed without libyaml, which reads case files"
        hint = "install a PyYAML wheel: pip install --force-reinstall --only-binary=:all: PyYAML"
        raise _unreadable(source, "no-libyaml", 0, message, hint) from error
    if bad := _UNPRINTABLE.search(source.text):
        message = f"the character {ascii(bad.group())[1:-1]} may not stand in a YAML file"
        raise _unreadable(source, "not-text", bad.start(), message, 'write it as an escape in double quotes: "\\e"')
    survey = _Survey(source)

    def take_measured(root: Node, case: Node) -> None:
        survey.check(case, 3)
        if take is not None:
            take(root, case)

    composer = Composer(source.text, MAX_DEPTH, take_measured if take and _ends_with_cases(source.text) else None)
    try:
        root = composer.get_single_node()
    except TooDeep as error:
        raise UnreadableFile(source.fault("too-deep", error.node, "this is nested too deep")) from error
    except yaml.MarkedYAMLError as error:
        raise UnreadableFile(syntax_fault(source, error)) from error
    except yaml.YAMLError as error:
        raise _unreadable(source, "yaml", 0, f"this is no YAML: {error}") from error
    finally:
        composer.dispose()
    if root is not None:
        survey.check(root, 1)
    return root


def _decoded(data: bytes, source: SourceFile) -> str:
    if wide := _WIDE.get(data[:2]):
        raise _unreadable(source, "not-utf-8", 0, f"the file is {wide}", "save it as UTF-8")
    if b"\0" in data:
        raise _unreadable(source, "not-text", 0, "this is a binary file, not YAML text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        readable = SourceFile(source.path, data.decode("utf-8-sig", errors="replace"))
        start = len(data[: error.start].decode("utf-8-sig", errors="replace"))
        message = f"the file is not UTF-8: byte 0x{data[error.start]:02x} here is no character"
        raise _unreadable(readable, "not-utf-8", start, message, "save it as UTF-8") from error


class _Place:
    """Line and column of an offset, from zero."""

    def __init__(self, text: str, offset: int) -> None:
        before = text[:offset]
        self.line = before.count("\n")
        self.column = offset - (before.rfind("\n") + 1)


def _unreadable(source: SourceFile, code: str, offset: int, message: str, hint: str = "") -> UnreadableFile:
    return UnreadableFile(source.fault(code, _Place(source.text, offset), message, hint))


def _ends_with_cases(text: str) -> bool:
    """Whether nothing of the file stands below its cases. Wherever this is in doubt, it is false."""
    begin = _CASES.search(text)
    return begin is not None and _TOP_LEVEL.search(text, begin.end()) is None


class _Survey:
    """Measures a document with its aliases followed: what a small file stands for may be endless."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        self._left = len(source.text) + MAX_ALIASED
        self._known: dict[int, tuple[int, int] | None] = {}

    def check(self, node: Node, depth: int) -> None:
        """Refuse what is too large or nested too deep; `node` stands that deep in the file."""
        self._known.clear()
        if isinstance(node, yaml.ScalarNode):
            self._check_tag(node, _COLLECTIONS)
        else:
            self._measure(node, depth)

    def _measure(self, node: Node, depth: int) -> tuple[int, int]:
        """How many nodes hang on a list or mapping, itself included, and how deep."""
        self._left -= 1
        self._check_tag(node, _NO_MAPPING if isinstance(node, yaml.MappingNode) else _NO_LIST)
        if id(node) in self._known:
            return self._again(node, depth)
        if depth > MAX_DEPTH:
            raise UnreadableFile(self._source.fault("too-deep", node, "this is nested too deep"))
        self._known[id(node)] = None
        scalars, size, height = 0, 1, 1
        for item in _children(node):
            if isinstance(item, yaml.ScalarNode):
                self._check_tag(item, _COLLECTIONS)
                scalars += 1
            else:
                below, tall = self._measure(item, depth + 1)
                size += below
                height = max(height, tall + 1)
        if scalars:
            self._left -= scalars
            size += scalars
            height = max(height, 2)
        self._known[id(node)] = size, height
        self._check_size(node)
        return size, height

    def _again(self, node: Node, depth: int) -> tuple[int, int]:
        """The measures of what an alias stands for."""
        known = self._known[id(node)]
        if known is None:
            raise UnreadableFile(self._source.fault("yaml", node, "this anchor contains an alias of itself"))
        size, height = known
        if depth + height > MAX_DEPTH:
            raise UnreadableFile(self._source.fault("too-deep", node, "this is nested too deep"))
        self._left -= size
        self._check_size(node)
        return known

    def _check_tag(self, node: Node, unfit: frozenset[str]) -> None:
        if node.tag in unfit:
            message = f"the tag {shown(short_tag(node.tag))} does not fit here"
            raise UnreadableFile(self._source.fault("yaml", node, message))

    def _check_size(self, node: Node) -> None:
        if self._left < 0:
            message = f"the aliases of this file stand for more than {MAX_ALIASED:,} values"
            raise UnreadableFile(self._source.fault("too-large", node, message, "write less with anchors and aliases"))


def _children(node: Node) -> Iterator[Node]:
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair
    else:
        yield from node.value
