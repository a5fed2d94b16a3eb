"""The page that explains errors knows every code, and no code that is gone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest_fcall.cases

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "errors.md"
PACKAGE = Path(pytest_fcall.cases.__file__).parent
CODE_AT = {"add": 0, "fault": 0, "_unreadable": 1}
"""Which argument of these calls is the code."""


def codes_used() -> Iterator[str]:
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and len(node.args) > 2:
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in CODE_AT and isinstance(code := node.args[CODE_AT[name]], ast.Constant):
                    yield str(code.value)


def test_the_page_explains_each_code_and_no_other() -> None:
    explained = re.findall(r"^\| `([a-z0-9-]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(explained) == sorted(set(explained))
    assert set(explained) == set(codes_used()) | {"forbidden-value"}
