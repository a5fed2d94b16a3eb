"""Modules of original code, which are parsed and never run: their literals, and the texts of their prompts."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pytest_fcall.core.files import read_regular

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


def parse_module(path: Path) -> ast.Module:
    """Return the syntax tree of a module. Raises ValueError where it cannot be read."""
    try:
        return ast.parse(read_regular(path))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None


def module_literals(path: Path) -> dict[str, Any]:
    """Return the literals that a module assigns to names. Raises ValueError where it cannot be read."""
    literals = {}
    for statement in parse_module(path).body:
        if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name):
            try:
                literals[target.id] = ast.literal_eval(statement.value)
            except (ValueError, TypeError, RecursionError):
                continue  # made of other names
    return literals


def fill_placeholders(template: str, values: Mapping[str, str]) -> str:
    """Replace the placeholders that have a value. `str.format` could reach into objects."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)
