"""Requests of the Mannheim benchmark hold its questions and functions as its files have them.

The files are not ours to pass on: FCALL_CORPUS names a folder that holds them.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Case
from pytest_fcall.schema.wire_tools import tools_for_wire
from pytest_fcall.suites.mannheim.files import PUBLISHED_PARTS, read_files
from pytest_fcall.suites.mannheim.suite import MannheimSuite
from tests.conformance.conftest import Held

NATIVE = Path(os.environ.get("FCALL_CORPUS") or "no-corpus").absolute() / "native" / "mannheim"
MENDED = {
    "travel_multi_param": {
        "get_airbnb_by_price_and_neighborhood_group",
        "get_airbnb_by_price_min_nights_and_neighbourhood_group",
    }
}
"""Functions that right answers call, and that the set of the part does not offer."""

pytestmark = pytest.mark.skipif(not NATIVE.is_dir(), reason="FCALL_CORPUS names no folder with the files of Mannheim")


@pytest.mark.parametrize("name", PUBLISHED_PARTS)
def test_questions_and_functions_go_out_as_they_are(name: str, held: Held) -> None:
    part = read_files(NATIVE).parts[name]
    cases = [case for case in MannheimSuite().cases(name, NATIVE) if isinstance(case, Case)]
    assert len(cases) == len(part.questions)
    asked = [[message["content"] for message in case.turns[0].messages] for case in cases]
    system = "You are a helpful assistant. Answer briefly."
    questions = [row["question"] for row in part.questions if isinstance(row, dict)]
    assert asked == [[system, question] for question in questions]
    assert {case.proposed_settings["temperature"] for case in cases} == {0}
    functions: list[Any] = [each["function"] for each in tools_for_wire(cases[0].tools).tools]
    sent = {each["name"]: json.dumps(each) for each in functions}
    published = {str(each["name"]): json.dumps(each) for each in part.functions if isinstance(each, dict)}
    assert sent.keys() - published.keys() == MENDED.get(name, set())
    assert all(sent[key] == text for key, text in published.items())
    held("Mannheim", "requests, but for two functions that a part lacks", "the published files", len(cases))
