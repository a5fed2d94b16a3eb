"""What a browser lacks: libraries that are compiled, and have no stand-in in this folder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

_REASONS = {
    "tree_sitter": "answers in Java and JavaScript are read by tree-sitter",
    "rouge_score": "`$rouge` needs the library rouge-score",
    "deepdiff": "differences between states are found by the library deepdiff",
    "jinja2": "a user that is simulated needs the library Jinja",
    "mcp": "tools of an MCP server are asked for in a process of their own",
}


class Unavailable(BaseException):
    """A case needs what is not in the browser. No `except Exception` takes it for a mistake of the case."""


class Finder:
    """Finds the libraries that are not here, so that each import of one says what it was for."""

    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None) -> None:
        """Raise Unavailable for such a library, and leave all other modules to the finders behind this one."""
        if name in _REASONS:
            refuse(_REASONS[name])


def refuse(reason: str) -> NoReturn:
    """Raise Unavailable."""
    raise Unavailable(f"{reason}, which this page lacks")


def install() -> None:
    """Let imports of the libraries raise Unavailable."""
    sys.meta_path.insert(0, Finder())
