"""YAML files as nodes: encoding, size limits and syntax errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from errno import EFBIG
from pathlib import Path

import yaml
from yaml import Node

from pytest_fcall.cases.faults import Mark, SourceFile, UnreadableFile, quote
from pytest_fcall.cases.yaml.values import MAP, MAX_DEPTH, SCALAR_TAGS, SEQ, short_tag
from pytest_fcall.core.case import Fault
from pytest_fcall.core.files import MOST_BYTES, read_regular

_LAYOUT = "look at the indentation here and in the lines above"
MAX_NODES = 2_000_000
"""The most values that are held at a time, in about 600 MB: those of a case, where cases end the file, else of all."""
MAX_ALIASED = 1_000_000
"""The largest number of nodes that aliases may add to those written."""

_COLLECTIONS = frozenset((MAP, SEQ))
_NO_MAPPING = SCALAR_TAGS | {SEQ}
_NO_LIST = SCALAR_TAGS | {MAP}
_CASES = re.compile(r"^cases:[ \t]*(?:#.*)?\r?$", re.MULTILINE)
_TOP_LEVEL = re.compile(r"\n[^\s#-]")
_UNPRINTABLE = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_JSON_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)
_ANCHOR_OR_TAG = re.compile(r"[&!](?<![^\s\[{,:?-].)", re.DOTALL)
"""An ampersand or exclamation mark that may begin an anchor or a tag: nothing, a space or punctuation is before it."""


def read_text(path: Path, display_path: str) -> SourceFile:
    """The text of a UTF-8 file, without a byte order mark. Raises UnreadableFile."""
    source = SourceFile(display_path)
    try:
        data = read_regular(path)
    except OSError as error:
        if error.errno == EFBIG:
            message = f"the file is larger than {MOST_BYTES // 2**20} MiB"
            raise _unreadable(source, "too-large", 0, message, "split it into several files") from error
        raise _unreadable(source, "unreadable-file", 0, f"the file cannot be read: {error.strerror}") from error
    text = _decoded(data, source)
    return SourceFile(display_path, _JSON_PAIR.sub(_whole_escape, text) if path.suffix == ".json" else text)


def _whole_escape(pair: re.Match[str]) -> str:
    """The escape of YAML for a character that JSON writes as two halves."""
    high, low = int(pair[2], 16), int(pair[3], 16)
    return f"{pair[1]}\\U{0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00):08x}"


def read_yaml(source: SourceFile, take: Callable[[Node, Node], None] | None = None) -> Node | None:
    """The document of a text; None if it is empty. Raises UnreadableFile.

    If `cases:` is the last key, all cases but the last are given to `take` one by one, together with the root as far
    as it is parsed by then, and are missing from the result.
    """
    try:
        from pytest_fcall.cases.yaml.composer import Composer, TooDeep, TooMany
    except ImportError as error:
        message = "PyYAML is installed without libyaml, which reads case files"
        hint = "install a PyYAML wheel: pip install --force-reinstall --only-binary=:all: PyYAML"
        raise _unreadable(source, "no-libyaml", 0, message, hint) from error
    if bad := _UNPRINTABLE.search(source.text):
        message = f"the character {ascii(bad.group())[1:-1]} is not allowed in a YAML file"
        raise _unreadable(source, "not-text", bad.start(), message, 'write it as an escape in double quotes: "\\e"')
    # Without anchors and tags the parser's own limits suffice.
    limits = _SizeLimits(source) if _may_have_anchor_or_tag(source.text) else None

    def take_checked(root: Node, case: Node) -> None:
        if limits is not None:
            limits.check(case, 3)
        if take is not None:
            take(root, case)

    taken = take_checked if take and _ends_with_cases(source.text) else None
    composer = Composer(source.text, MAX_DEPTH, MAX_NODES, taken)
    try:
        root = composer.get_single_node()
    except (TooDeep, TooMany, yaml.YAMLError) as error:
        raise UnreadableFile(_composer_fault(source, error)) from error
    finally:
        composer.dispose()
    if root is not None and limits is not None:
        limits.check(root, 1)
    return root


def _composer_fault(source: SourceFile, error: Exception) -> Fault:
    from pytest_fcall.cases.yaml.composer import TooDeep, TooMany, syntax_fault

    match error:
        case TooDeep():
            return _too_deep(source, error.node)
        case TooMany():
            message = f"there are more than {MAX_NODES:,} values"
            return source.fault("too-large", error.node, message, "split it into several files")
        case yaml.MarkedYAMLError(problem="exceeded maximum nesting depth"):  # the limit of recent versions
            return _too_deep(source, error.problem_mark)
        case yaml.MarkedYAMLError():
            return syntax_fault(source, error)
    return source.fault("yaml", source.place(0), f"invalid YAML: {error}")


def _too_deep(source: SourceFile, place: Node | Mark | None) -> Fault:
    return source.fault("too-deep", place, f"nested deeper than {MAX_DEPTH} levels")


def _decoded(data: bytes, source: SourceFile) -> str:
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        raise _unreadable(source, "not-utf-8", 0, "the file is UTF-16", "save it as UTF-8")
    if b"\0" in data:
        raise _unreadable(source, "not-text", 0, "this is a binary file, not YAML text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        readable = SourceFile(source.path, data.decode("utf-8-sig", errors="replace"))
        start = len(data[: error.start].decode("utf-8-sig", errors="replace"))
        message = f"the file is not UTF-8: byte 0x{data[error.start]:02x} is not a character"
        raise _unreadable(readable, "not-utf-8", start, message, "save it as UTF-8") from error


def _unreadable(source: SourceFile, code: str, offset: int, message: str, hint: str = "") -> UnreadableFile:
    return UnreadableFile(source.fault(code, source.place(offset), message, hint))


def _may_have_anchor_or_tag(text: str) -> bool:
    return ("&" in text or "!" in text) and _ANCHOR_OR_TAG.search(text) is not None


def _ends_with_cases(text: str) -> bool:
    """Whether `cases` is surely the last key of the file."""
    begin = _CASES.search(text)
    return begin is not None and _TOP_LEVEL.search(text, begin.end()) is None


class _SizeLimits:
    """Limits of size and depth with aliases expanded. A small file of aliases may expand without end."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        self._left = len(source.text) + MAX_ALIASED
        self._known: dict[int, tuple[int, int] | None] = {}

    def check(self, node: Node, depth: int) -> None:
        """Raise UnreadableFile if a node is too large or too deep, or has a tag that does not fit."""
        self._known.clear()
        if isinstance(node, yaml.ScalarNode):
            self._check_tag(node, _COLLECTIONS)
        else:
            self._measure(node, depth)

    def _measure(self, node: Node, depth: int) -> tuple[int, int]:
        """The number of nodes in a list or mapping, itself included, and its depth."""
        self._left -= 1
        self._check_tag(node, _NO_MAPPING if isinstance(node, yaml.MappingNode) else _NO_LIST)
        if id(node) in self._known:
            return self._again(node, depth)
        if depth > MAX_DEPTH:
            raise UnreadableFile(_too_deep(self._source, node))
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
        """The measures of a node that an alias repeats."""
        known = self._known[id(node)]
        if known is None:
            raise UnreadableFile(self._source.fault("yaml", node, "this anchor contains an alias of itself"))
        size, height = known
        if depth + height > MAX_DEPTH:
            raise UnreadableFile(_too_deep(self._source, node))
        self._left -= size
        self._check_size(node)
        return known

    def _check_tag(self, node: Node, unfit: frozenset[str]) -> None:
        if node.tag in unfit:
            message = f"the tag {quote(short_tag(node.tag))} does not fit here"
            raise UnreadableFile(self._source.fault("yaml", node, message))

    def _check_size(self, node: Node) -> None:
        if self._left < 0:
            message = f"the aliases expand to more than {MAX_ALIASED:,} values"
            raise UnreadableFile(self._source.fault("too-large", node, message, "use fewer aliases"))


def _children(node: Node) -> Iterator[Node]:
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair
    else:
        yield from node.value
