from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.core import Case
from pytest_fcall.session.judge.given_answers import undecided_reason

CASES = """
tools:
  - {name: book, parameters: {type: object, properties: {flight: {type: string}}}}
cases:
  - id: plain
    prompt: Book F7.
    expect: [{book: {flight: F7}, returns: {booking: B1}}]
    faults: {tool: book, kind: error}
  - {id: judged, prompt: Hi, answer: {$judge: Is it polite?}}
  - {id: inside, prompt: Hi, expect: no_call, wire: {count: 1}}
"""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("plain", ""),
        ("plain[fault=error]", "faulty on purpose (`faults`)"),
        ("judged", "`$judge`"),
        ("inside", "`wire`"),
    ],
)
def test_an_answer_that_was_logged_decides_what_it_can(tmp_path: Path, name: str, why: str) -> None:
    cases = {each.id: each for each in read_case_text(CASES, tmp_path / "a.fc.yaml", root=tmp_path).entries}
    case = cases[name]
    assert isinstance(case, Case)
    assert (why in undecided_reason(case)) if why else not undecided_reason(case)
