"""Error-tolerant Python parsers, the installed one and the original one, and the sub-trees of a syntax tree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from pytest_fcall.core import commands


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
class SubTrees:
    """The sources of the sub-trees of a syntax tree."""

    by_first_child: Mapping[bytes, bytes]
    """The sources by that of the first child; the last one in the text counts."""
    last: bytes
    """The source of the sub-tree that was visited last."""


def read_sub_trees(root: Node) -> SubTrees:
    """Visit the root and all nodes with children, parents first, and the last sibling first."""
    by_first_child: dict[bytes, bytes] = {}
    last, waiting = root, [root]
    while waiting:
        last = waiting.pop()
        children = last.children
        if children:
            by_first_child.setdefault(node_source(children[0]), node_source(last))
        # Newer grammars have a node for the content of a string; the original one has none.
        waiting.extend(child for child in children if child.type != "string_content" and child.children)
    return SubTrees(by_first_child, node_source(last))


def node_source(node: Node) -> bytes:
    """Return the source of a node."""
    return node.text or b""


ORIGINAL_PACKAGES: Mapping[str, str] = MappingProxyType({"tree-sitter": "0.20.1", "tree-sitter-languages": "1.9.1"})
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


def default_parser_folder() -> Path:
    """Return the folder of this environment in which the original's parser is looked for."""
    return Path(sys.prefix) / "share" / "pytest-fcall" / "apibench-parser"


def original_parser_folder() -> Path | None:
    """Return the folder of the original's parser in this environment; None without one."""
    folder = default_parser_folder()
    return folder if (folder / "tree_sitter_languages").is_dir() else None


def install_command(folder: Path | None = None) -> str:
    """Return the command that installs the original's parser into a folder, by default where it is looked for."""
    folder = folder or default_parser_folder()
    packages = " ".join(f"{name}=={version}" for name, version in ORIGINAL_PACKAGES.items())
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
