"""The page about profiles tells the truth."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml

from pytest_fcall.core import Rules
from pytest_fcall.schema.sources.tool_data import tools_from_data
from pytest_fcall.suites.bfcl import profile_differences
from tests.unit.matching.language import judged

PAGE = (Path(__file__).parents[4] / "docs/explanation/profiles.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(.+?)` \| `(\[.*?\])` \| (valid|`.+?`) \| (valid|`.+?`) \| .+ \|$", re.MULTILINE)
ROWS = ROW.findall(PAGE)
TOOLS = tools_from_data(yaml.safe_load(PAGE.partition("```yaml\n")[2].partition("```")[0])["tools"])


@pytest.mark.parametrize(("expected", "called", "strict", "bfcl"), ROWS)
def test_a_row_of_the_table_is_true(expected: str, called: str, strict: str, bfcl: str) -> None:
    calls, expect = yaml.safe_load(called), yaml.safe_load(expected)
    reasons = judged(calls, expect, tools=TOOLS).reasons
    official = judged(calls, expect, tools=TOOLS, rules=Rules()._replace(profile="bfcl"))
    assert [reason.kind for reason in reasons] == ([] if strict == "valid" else [strict.strip("`")])
    assert official.error_type == (None if bfcl == "valid" else bfcl.strip("`"))


def test_the_table_is_there() -> None:
    assert len(ROWS) > 10


def test_the_words_for_differences_are_those_in_use() -> None:
    explained = set(re.findall(r"^\| `(\w+)` \|", PAGE.partition("| word |")[2].partition("\n\n")[0], re.MULTILINE))
    tree = ast.walk(ast.parse(Path(profile_differences.__file__).read_text(encoding="utf-8")))
    assert explained <= {node.value for node in tree if isinstance(node, ast.Constant)}
    assert explained >= {*profile_differences._BY_ERROR.values(), *profile_differences._SPELLINGS}
