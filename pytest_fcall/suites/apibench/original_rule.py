"""The original rule, which compares sub-trees of an answer's code with the API data base, and its parsers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from pytest_fcall.core import commands
from pytest_fcall.suites.apibench.apis import ApiEntry
from pytest_fcall.suites.apibench.files import ComparedArguments, Hub
from pytest_fcall.suites.apibench.grades import Grade


def extract_call_text(answer: str, *, whole: bool) -> str | None:
    """Return the text of the field `api_call`, from two characters after its colon to its last closing bracket.

    An answer without the field is returned if `whole` is true, else None. Quotes are cut as in the original: whether
    the opening quote stays depends on the number of blanks before it.
    """
    _, found, after = answer.partition("api_call")
    if not found:
        return answer if whole else None
    field = after.split("api_call", 1)[0].split("api_provider", 1)[0]
    start = max(field.find(":"), 0)
    end = field.rfind(")") if ")" in field else -2
    return field[start + 2 : end + 1]


@dataclass(frozen=True, slots=True)
class _KnownApi:
    """An API of the data base: its name, and the texts that a call of it must hold."""

    name: bytes
    values: tuple[bytes, ...]
    domain: str


class OriginalRule:
    """Grades answers to the questions of one hub, with the mistakes of the original.

    * The first API of the data base that fits counts, though others may fit better.
    * A value fits if it occurs anywhere in the text of the call, also as a part of another value.
    * If no sub-tree begins with the name of an API, its values are searched in the last sub-tree.
    * Every API of the right domain is right.
    """

    def __init__(self, hub: Hub, apis: Sequence[ApiEntry], parse: Parse) -> None:
        self._hub = hub
        self._parse = parse
        self._known = tuple(known for api in apis if (known := _known_api(api, hub.checked, parse)))

    def __call__(self, answer: str, domain: str) -> Grade:
        """Return the grade of an answer; `domain` is that of the right API."""
        code = extract_call_text(answer, whole=self._hub.whole_answer)
        if code is None:
            return "wrong"
        found = self._first(code)
        if found is None:
            return "hallucination"
        return "correct" if found.domain == domain else "wrong"

    def _first(self, code: str) -> _KnownApi | None:
        trees = _read_sub_trees(self._parse(code.encode("utf-8", "replace")))
        for known in self._known:
            call = trees.by_first_child.get(known.name, trees.last)
            if all(value in call for value in known.values):
                return known
        return None


def _known_api(api: ApiEntry, checked: ComparedArguments, parse: Parse) -> _KnownApi | None:
    """The API of an entry; None if none of its values are compared, so that no answer fits."""
    first = parse(api.call.encode("utf-8", "replace")).children[:1]
    call = first[0].children[:1] if first else ()
    parts = call[0].children if call else ()
    if len(parts) < 2:
        return None
    values = tuple(value.lstrip(b"'").rstrip(b"'") for value in _values(parts[1].children, checked))
    return _KnownApi(_node_source(parts[0]), values, api.domain) if values else None


def _values(arguments: Sequence[Node], checked: ComparedArguments) -> Iterator[bytes]:
    for argument in arguments:
        text = _node_source(argument)
        if text in {b"(", b")", b","} or (checked == "named" and b"repo_or_dir" not in text and b"model" not in text):
            continue
        named = argument.type == "keyword_argument" and len(argument.children) > 2
        is_value = checked != "model" or b"model=" in text or b"model =" in text
        yield _node_source(argument.children[2]) if named and is_value else text


class Node(Protocol):
    """The used part of a tree-sitter node, in all versions."""

    @property
    def type(self) -> str:
        """The name in the grammar."""
        ...

    @property
    def text(self) -> bytes | None:
        """Its source."""
        ...

    @property
    def children(self) -> Sequence[Node]:
        """All children, brackets and commas included."""
        ...


Parse: TypeAlias = Callable[[bytes], Node]
"""Returns the root of a tree for any text. Unreadable parts are nodes of their own."""


@dataclass(frozen=True, slots=True)
class _SubTrees:
    """The sources of the sub-trees of a syntax tree."""

    by_first_child: Mapping[bytes, bytes]
    """The sources by that of the first child; the last one in the text counts."""
    last: bytes
    """The source of the sub-tree that was visited last."""


def _read_sub_trees(root: Node) -> _SubTrees:
    """Visit the root and all nodes with children, parents first, and the last sibling first."""
    by_first_child: dict[bytes, bytes] = {}
    last, waiting = root, [root]
    while waiting:
        last = waiting.pop()
        children = last.children
        if children:
            by_first_child.setdefault(_node_source(children[0]), _node_source(last))
        # Newer grammars have a node for the content of a string; the original one has none.
        waiting.extend(child for child in children if child.type != "string_content" and child.children)
    return _SubTrees(by_first_child, _node_source(last))


def _node_source(node: Node) -> bytes:
    """Return the source of a node."""
    return node.text or b""


_ORIGINAL_PACKAGES: Mapping[str, str] = MappingProxyType({"tree-sitter": "0.20.1", "tree-sitter-languages": "1.9.1"})
"""The packages that parse broken text as the original does. Other versions differ in one answer of 200."""


class NoParser(ValueError):
    """The original's parser is missing or does not work. The text says how to get it."""


@cache
def installed_parser() -> Parse:
    """Return the parser of today. Raises NoParser."""
    try:
        import tree_sitter_python
        from tree_sitter import Language, Parser
    except ImportError as error:
        raise NoParser(
            "the rule of the original takes a grammar that cannot be imported "
            f"({error}): {commands.install_command('apibench')}"
        ) from None

    parser = Parser(Language(tree_sitter_python.language()))
    return lambda text: parser.parse(text).root_node


def _default_parser_folder() -> Path:
    """Return the folder of this environment in which the original's parser is looked for."""
    return Path(sys.prefix) / "share" / "pytest-fcall" / "apibench-parser"


def original_parser_folder() -> Path | None:
    """Return the folder of the original's parser in this environment; None without one."""
    folder = _default_parser_folder()
    return folder if (folder / "tree_sitter_languages").is_dir() else None


def install_command(folder: Path | None = None) -> str:
    """Return the command that installs the original's parser into a folder, by default where it is looked for."""
    folder = folder or _default_parser_folder()
    packages = " ".join(f"{name}=={version}" for name, version in _ORIGINAL_PACKAGES.items())
    return f"pip install --no-deps --target {folder} {packages}"


@cache
def original_parser(folder: Path) -> Parse:
    """Return the original's parser, from a folder that `install_command` has filled. Raises NoParser.

    It is loaded under a name of its own, so that it and the installed parser work in one process.
    """
    from ctypes import CDLL, c_void_p

    libraries = sorted(folder.glob("tree_sitter_languages/languages.*"))
    bindings = sorted(folder.glob("tree_sitter/binding.*"))
    if not libraries or not bindings:
        raise NoParser(f"no parser in {folder}. Get it with: {install_command(folder)}")
    try:
        binding = _load_extension(bindings[0])
        grammar = CDLL(str(libraries[0])).tree_sitter_python
        grammar.restype = c_void_p
        parser = binding.Parser()
        parser.set_language(_Grammar(grammar()))
    except (OSError, ImportError, AttributeError, ValueError) as error:
        raise NoParser(f"the parser in {folder} does not work here: {error}") from None
    return lambda text: parser.parse(text).root_node


def parser_of(folder: Path | None) -> Parse:
    """Return the original's parser of a folder, or without one that of today. Raises NoParser."""
    return installed_parser() if folder is None else original_parser(folder)


class _Grammar:
    """The object that the old binding takes as a language."""

    def __init__(self, address: int) -> None:
        self.language_id = address


def _load_extension(path: Path) -> Any:
    from importlib.machinery import ExtensionFileLoader
    from importlib.util import module_from_spec, spec_from_loader

    name = "pytest_fcall_original_parser.binding"
    loader = ExtensionFileLoader(name, str(path))
    spec = spec_from_loader(name, loader)
    if spec is None:
        raise ImportError(f"{path} is not an extension module")
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
