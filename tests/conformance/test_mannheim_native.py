"""The Mannheim benchmark in its own files: all of it is read, what is right is right, and runs are judged as published.

The files are not ours to pass on: FCALL_CORPUS names a folder that holds them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.core import Call, Calls, Case, Profile, Reply
from pytest_fcall.suites.case_files import case_file_text
from pytest_fcall.suites.json_files import open_lines
from pytest_fcall.suites.mannheim.queries import QUERIES
from pytest_fcall.suites.mannheim.suite import MannheimJudge, MannheimSuite
from tests.conformance.conftest import Held

CORPUS = Path(os.environ.get("FCALL_CORPUS") or "no-corpus").absolute()
NATIVE = CORPUS / "native" / "mannheim"
SIZES = {
    "music_single": 46,
    "music_single_complex": 46,
    "music_multi_param": 67,
    "music_sequential": 25,
    "music_parallel": 22,
    "travel_single": 51,
    "travel_single_complex": 51,
    "travel_multi_param": 47,
    "travel_sequential": 32,
    "travel_parallel": 19,
}
RUNS = {
    "T4 single simple": "music_single",
    "T5 single complex": "music_single_complex",
    "T6 multi param": "music_multi_param",
    "T7 parallel": "music_parallel",
    "T8 sequential": "music_sequential",
}

pytestmark = pytest.mark.skipif(not NATIVE.is_dir(), reason="FCALL_CORPUS names no folder with the files of Mannheim")


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return {case.id: case for case in MannheimSuite().cases("", NATIVE) if isinstance(case, Case)}


def runs() -> Iterator[dict[str, Any]]:
    with open_lines(CORPUS / "mannheim_verdicts.jsonl.gz") as stream:
        yield from map(json.loads, stream)


def judged(case: Case, reply: str, calls: list[Call], profile: Profile) -> bool:
    own = replace(case, rules=case.rules._replace(profile=profile))
    assert own.judge is not None
    return own.judge(own, Reply(reply), Calls(tuple(calls))).valid


@pytest.mark.timeout(60)
def test_all_questions_are_read(cases: dict[str, Case]) -> None:
    found = list(MannheimSuite().cases("", NATIVE))
    assert all(isinstance(case, Case) for case in found)
    assert len(cases) == len(found) == sum(SIZES.values())


@pytest.mark.parametrize("part", SIZES)
def test_no_question_of_a_part_is_left_out(part: str) -> None:
    assert sum(isinstance(case, Case) for case in MannheimSuite().cases(part, NATIVE)) == SIZES[part]


def test_what_is_mended_is_told() -> None:
    mended = list(MannheimSuite().repairs(NATIVE))
    assert sum("is offered; a right answer calls it" in each for each in mended) == 2
    assert sum("`get_long_lat_by_airbnb ` is called `get_long_lat_by_airbnb`" in each for each in mended) == 4
    assert sum("the argument `" in each for each in mended) == 14


def test_every_function_that_is_offered_is_there(cases: dict[str, Case]) -> None:
    assert {tool.name for case in cases.values() for tool in case.tools} <= QUERIES.keys()


@pytest.mark.parametrize(("profile", "refused"), [("strict", 0), ("original", 23)])
def test_what_is_right_is_right_but_for_what_the_original_cannot_read_and_has_wrong(
    cases: dict[str, Case], profile: Profile, refused: int
) -> None:
    """The original cannot read the right answers to 8 questions, and has calls that nobody can make for 15 more."""
    wrong = []
    for case in cases.values():
        judge = case.judge
        assert isinstance(judge, MannheimJudge)
        filled = [_filled(call, case) for call in judge.paths[0]]
        if not judged(case, json.dumps(dict(judge.answer), ensure_ascii=False), filled, profile):
            wrong.append(case.id)
    assert len(wrong) == refused


def _filled(call: Call, case: Case) -> Call:
    """The call, with something for what a question leaves open."""
    (tool,) = (tool for tool in case.tools if tool.name == call.name)
    required = tool.parameters.get("required")
    return Call(call.name, {**dict.fromkeys(required if isinstance(required, list) else (), 1), **call.arguments})


def test_logged_runs_are_judged_as_the_original_judges_them(cases: dict[str, Case], held: Held) -> None:
    counted = 0
    for row in runs():
        case = cases[f"{RUNS[row['table']]}_{row['case'].partition('::')[2]}"]
        judge = case.judge
        assert isinstance(judge, MannheimJudge)
        same = [[[call.name for call in path], [dict(call.arguments) for call in path]] for path in judge.published]
        if same != row["paths"] or dict(judge.answer) != row["expected"]["answer"]:
            continue  # the question was changed after the run
        made = [Call(name, given) for name, given in zip(row["called"], row["called_parameters"], strict=False)]
        if len(made) != len(row["called"]):
            continue
        counted += 1
        right = {row["result"][key] for key in ("function", "argument", "answer")} == {"Correct"}
        assert judged(case, row["answer"] or "", made, "original") is right, row["case"]
    assert counted > 190
    held("Mannheim", "right or wrong, by `original`", "the original evaluator, on logged runs", counted)


def test_our_rules_judge_logged_runs_otherwise_in_few_cases(cases: dict[str, Case], held: Held) -> None:
    """Two have other quotes in the name of a song, one asks for misspelt arguments, and one the original misreads."""
    otherwise, logged = [], [*runs()]
    for row in logged:
        case = cases[f"{RUNS[row['table']]}_{row['case'].partition('::')[2]}"]
        made = [Call(name, given) for name, given in zip(row["called"], row["called_parameters"], strict=False)]
        right = {row["result"][key] for key in ("function", "argument", "answer")} == {"Correct"}
        if judged(case, row["answer"] or "", made, "strict") is not right:
            otherwise.append(row["case"].rpartition("_ONE_SHOT_")[2])
    assert otherwise == ["ECON_Q10", "ECON_Q10", "REA_Q1", "LAN_Q3"]
    held(
        "Mannheim", "right or wrong, by `strict`", "the original evaluator, on logged runs", len(logged), len(otherwise)
    )


@pytest.mark.parametrize("part", ["music_parallel", "travel_sequential"])
def test_written_cases_are_read_as_they_were(part: str) -> None:
    plain = [case for case in MannheimSuite().plain(part, NATIVE) if isinstance(case, Case)]
    read = read_case_text(case_file_text(plain, part), Path("case.fc.yaml"), root=Path())
    assert read.faults == ()
    assert [entry.turns for entry in read.entries if isinstance(entry, Case)] == [case.turns for case in plain]
