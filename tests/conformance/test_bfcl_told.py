"""Models are told what the official harness tells them, word for word."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Case
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.by_night import is_night
from tests.conformance.official.client import PYTHON, ROOT
from tests.conformance.official.suite import CATEGORIES

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="`make conformance` makes the official environment")


@pytest.fixture(scope="module")
def official() -> dict[str, dict[str, Any]]:
    return official_rows(*CATEGORIES)


def official_rows(*categories: str) -> dict[str, dict[str, Any]]:
    command = [str(PYTHON), "-m", "tests.conformance.official.told", *categories]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return {row["id"]: row for row in map(json.loads, done.stdout.splitlines())}


@pytest.fixture(scope="module")
def folder() -> Path:
    (found,) = PYTHON.parent.parent.glob("lib/python3*/site-packages/bfcl_eval/data")
    return found


def test_prompts_are_those_of_the_official_harness(official: dict[str, dict[str, Any]], folder: Path) -> None:
    cases = [case for case in BfclSuite().prompted("", folder) if isinstance(case, Case)]
    unlike = [case.id for case in cases if list(case.turns[0].messages) != official[case.id]["messages"]]
    assert len(cases) == len(official)
    assert unlike == []


def test_prompts_in_other_formats_are_too(folder: Path, pytestconfig: pytest.Config) -> None:
    if not is_night(pytestconfig):
        pytest.skip("5,200 prompts are compared by `make conformance`")
    told = official_rows("format_sensitivity")
    cases = [case for case in BfclSuite().prompted("format_sensitivity", folder) if isinstance(case, Case)]
    assert [case.id for case in cases] == list(told)
    assert [case.id for case in cases if list(case.turns[0].messages) != told[case.id]["messages"]] == []
