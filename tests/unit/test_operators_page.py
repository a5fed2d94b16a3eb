"""The tables of docs/reference/operators.md, run through reading and judging."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from pytest_fcall.cases.expectations import read_expectation
from pytest_fcall.cases.faults import Faults, SourceFile
from pytest_fcall.cases.node_values import value
from pytest_fcall.cases.yaml.reader import read_yaml
from pytest_fcall.core import OPERATORS, Call, Calls, Json, Reply, Rules, Tool
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge

PAGE = (Path(__file__).parents[2] / "docs/reference/operators.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?P<expected>`.*?`) \|(?P<fits>.*?)\|(?P<fails>.*?)\|$", re.MULTILINE)
TOOL = Tool("f", parameters={"type": "object", "properties": {"x": {}}})
RULES = Rules(now=datetime.fromisoformat("2026-11-21T16:30:00-08:00"))
LEFT_OUT = "left out"


def rows() -> Iterator[tuple[str, str, bool]]:
    for row in ROW.finditer(PAGE):
        (expected,) = re.findall("`(.+?)`", row["expected"])
        for cell, fits in ((row["fits"], True), (row["fails"], False)):
            for written, left_out in re.findall(f"`(.+?)`|({LEFT_OUT})", cell):
                yield expected, written or left_out, fits


def plain(text: str) -> Json:
    source = SourceFile("table", text)
    root = read_yaml(source)
    return None if root is None else value(root, Faults(source))


@pytest.mark.parametrize(("expected", "given", "fits"), [*rows()])
def test_a_row_of_the_operators_page_is_true(expected: str, given: str, fits: bool) -> None:
    expectation = read_expectation([{"f": {"x": plain(expected)}}], [TOOL])
    call = Call("f", {} if given == LEFT_OUT else {"x": plain(given)})
    verdict = judge(Reply(), Calls((call,)), expectation, MatchContext([TOOL], RULES))
    assert verdict.valid is fits, verdict.reasons


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_a_heading_and_an_example(name: str) -> None:
    headings = ", ".join(re.findall("^### (.*)$", PAGE, re.MULTILINE))
    assert name in headings.split(", ")
    assert f"{{${name}: " in PAGE
