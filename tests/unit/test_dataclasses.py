"""What classes cost when they are defined."""

from __future__ import annotations

import re

from tests.pages import ROOT

DATACLASS = re.compile(r'^ *@dataclass\b.*\n(?: *@.*\n)* *class (\w+).*:\n(\s*""")?', re.MULTILINE)


def test_each_dataclass_has_a_docstring() -> None:
    """Else Python writes one from its signature, and to read that takes longer than all the rest of its definition."""
    texts = {path: path.read_text("utf-8") for path in (ROOT / "pytest_fcall").rglob("*.py")}
    found = [(path.name, *each.groups()) for path, text in texts.items() for each in DATACLASS.finditer(text)]
    assert len(found) == sum(len(re.findall(r"^ *@dataclass\b", text, re.MULTILINE)) for text in texts.values())
    assert [f"{file}: {name}" for file, name, docstring in found if docstring is None] == []
