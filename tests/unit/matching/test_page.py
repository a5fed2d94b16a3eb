"""The page that explains verdicts tells the truth."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
import yaml

from pytest_fcall.core import ReasonKind
from tests.unit.matching.language import judged

PAGE = (Path(__file__).parents[3] / "docs/explanation/matching.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| `(?P<expected>.+?)` \| `(?P<called>\[.*?\])` \| (?P<verdict>.+?) \|(?: `(?P<instead>.+?)`)? \|$", re.MULTILINE
)


FOUND = [*ROW.finditer(PAGE)]
ROWS = [(row["expected"], row["called"], row["verdict"]) for row in FOUND]


@pytest.mark.parametrize(("expected", "called", "verdict"), ROWS)
def test_a_row_of_the_decision_table_is_true(expected: str, called: str, verdict: str) -> None:
    reasons = judged(yaml.safe_load(called), yaml.safe_load(expected)).reasons
    told = re.match("`([a-z_]+)`", verdict)
    assert [reason.kind for reason in reasons] == ([told[1]] if told else [])
    assert told or verdict.startswith("valid")


@pytest.mark.parametrize(("called", "instead"), [(row["called"], row["instead"]) for row in FOUND if row["instead"]])
def test_what_the_table_says_to_write_instead_makes_the_call_right(called: str, instead: str) -> None:
    assert judged(yaml.safe_load(called), yaml.safe_load(instead)).reasons == ()


def test_the_table_is_there() -> None:
    assert len(ROWS) == PAGE.count("\n| `", PAGE.index("| write instead |"), PAGE.index("## First")) > 30


@pytest.mark.parametrize("kind", get_args(ReasonKind))
def test_every_kind_of_reason_is_explained(kind: str) -> None:
    assert f"\n| `{kind}` | " in PAGE
