"""Error-tolerant Python parsers, the installed one and the original one, and the sub-trees of a syntax tree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias


class Node(Protocol):
    """What is needed of a node of tree-sitter, whatever its version."""

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
"""Gives the root of a tree, for any text: what cannot be read is in nodes of their own."""


@dataclass(frozen=True, slots=True)
class SubTrees:
    """The source of sub-trees."""

    by_beginning: Mapping[bytes, bytes]
    """By that of their first child; of several, the one that ends the text."""
    last: bytes
    """The one that is looked at where no other is meant."""


def read_sub_trees(root: Node) -> SubTrees:
    """Go through the root and all nodes with children: parents first, and of siblings the last first."""
    by_beginning: dict[bytes, bytes] = {}
    last, waiting = root, [root]
    while waiting:
        last = waiting.pop()
        children = last.children
        if children:
            by_beginning.setdefault(node_source(children[0]), node_source(last))
        # Newer grammars give the inside of a string a node of its own; the original's has none.
        waiting.extend(child for child in children if child.type != "string_content" and child.children)
    return SubTrees(by_beginning, node_source(last))


def node_source(node: Node) -> bytes:
    """The text of a node."""
    return node.text or b""


ORIGINAL_PACKAGES: Mapping[str, str] = MappingProxyType({"tree-sitter": "0.20.1", "tree-sitter-languages": "1.9.1"})
"""The packages that read broken text as the original does. Others of their kind differ in one answer of 200."""


class NoParser(ValueError):
    """The text says what is missing, and how to get it."""


@cache
def installed_parser() -> Parse:
    """The parser that comes with this package."""
    import tree_sitter_python
    from tree_sitter import Language, Parser

    parser = Parser(Language(tree_sitter_python.language()))
    return lambda text: parser.parse(text).root_node


def original_parser_folder() -> Path | None:
    """The folder in this environment where the original's parser is looked for, if there is one."""
    folder = Path(sys.prefix) / "share" / "pytest-fcall" / "apibench-parser"
    return folder if (folder / "tree_sitter_languages").is_dir() else None


def install_command(folder: Path) -> str:
    """The command that puts the original's parser into a folder."""
    packages = " ".join(f"{name}=={version}" for name, version in ORIGINAL_PACKAGES.items())
    return f"pip install --no-deps --target {folder} {packages}"


@cache
def original_parser(folder: Path) -> Parse:
    """The original's parser, from a folder that `command_for` filled. Raises NoParser.

    It is loaded beside the one that is installed, under a name of its own, so that both work in one process.
    """
    from ctypes import CDLL, c_void_p

    libraries = sorted(folder.glob("tree_sitter_languages/languages.*"))
    bindings = sorted(folder.glob("tree_sitter/binding.*"))
    if not libraries or not bindings:
        raise NoParser(f"{folder} holds no parser. Get it with: {install_command(folder)}")
    try:
        binding = _load_extension(bindings[0])
        grammar = CDLL(str(libraries[0])).tree_sitter_python
        grammar.restype = c_void_p
        parser = binding.Parser()
        parser.set_language(_Grammar(grammar()))
    except (OSError, ImportError, AttributeError, ValueError) as error:
        raise NoParser(f"the parser in {folder} does not work here: {error}") from None
    return lambda text: parser.parse(text).root_node


class _Grammar:
    """What the old binding wants to be given: an address with a name."""

    def __init__(self, address: int) -> None:
        self.language_id = address


def _load_extension(path: Path) -> Any:
    from importlib.machinery import ExtensionFileLoader
    from importlib.util import module_from_spec, spec_from_loader

    name = "pytest_fcall_original_parser.binding"
    loader = ExtensionFileLoader(name, str(path))
    spec = spec_from_loader(name, loader)
    if spec is None:
        raise ImportError(f"{path} is no extension module")
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
