from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.pages import ROOT

POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[\d,]+\})\+")
POSSESSIVE = re.compile(r"[*+?}][\s\"'rRbBfF]*\+")
"""Anything repeated possessively, in the source: between the two characters one literal may end and the next begin."""


def texts_of_patterns() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "pytest_fcall").rglob("*.py")):
        source = path.read_text("utf-8")
        for node in ast.walk(ast.parse(source)) if POSSESSIVE.search(source) else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value


def test_no_regular_expression_repeats_a_group_possessively() -> None:
    """Before Python 3.11.5 such a group keeps what its last try read though it failed; `(?>(?:...)*)` does not."""
    assert [place for place, text in texts_of_patterns() if POSSESSIVE_GROUP.search(text)] == []
