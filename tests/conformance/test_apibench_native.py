"""APIBench in its own files: all of it is read, retrieved for and judged as was published.

The files are not ours to pass on: FCALL_CORPUS names a folder that holds them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Calls, Case, Operator, Reply
from pytest_fcall.suites.apibench.apis import calls_in
from pytest_fcall.suites.apibench.files import hub_files, question_without_document
from pytest_fcall.suites.apibench.prompt import bm25_retriever
from pytest_fcall.suites.apibench.strict_rule import api_call
from pytest_fcall.suites.apibench.suite import ApiBenchSuite
from pytest_fcall.suites.json_files import open_lines
from tests.by_night import by_night

CORPUS = Path(os.environ.get("FCALL_CORPUS") or "no-corpus").absolute()
NATIVE = CORPUS / "native" / "apibench"
COUNTS = {"torchhub": 186, "tensorflowhub": 685, "huggingface": 904}

pytestmark = pytest.mark.skipif(not NATIVE.is_dir(), reason="FCALL_CORPUS names no folder with the files of APIBench")


@cache
def cases(part: str) -> list[Case]:
    return [case for case in ApiBenchSuite().cases(part, NATIVE) if isinstance(case, Case)]


@cache
def plain_cases(part: str) -> list[Case]:
    return [case for case in ApiBenchSuite().plain(part, NATIVE) if isinstance(case, Case)]


def answers() -> Iterator[dict[str, Any]]:
    with open_lines(CORPUS / "apibench_verdicts.jsonl.gz") as stream:
        yield from map(json.loads, stream)


@pytest.mark.timeout(60)
def test_all_questions_are_read() -> None:
    found = cases("")
    assert len({case.id for case in found}) == len(found) == sum(COUNTS.values())


@pytest.mark.parametrize("setting", ["", "_bm25", by_night("_oracle")])
@pytest.mark.parametrize("hub", COUNTS)
def test_no_question_of_a_hub_is_left_out(hub: str, setting: str) -> None:
    assert len(plain_cases(f"{hub}{setting}")) == COUNTS[hub]


@pytest.mark.parametrize(
    ("hub", "least"), [("torchhub", 180), by_night("tensorflowhub", 685), by_night("huggingface", 800)]
)
def test_bm25_finds_the_document_of_the_published_prompt(hub: str, least: int) -> None:
    files = hub_files(hub, NATIVE)
    retriever = bm25_retriever(files.apis)
    found = 0
    for plain, published in zip(files.questions_in("0_shot"), files.questions_in("bm25"), strict=True):
        (place,) = retriever.top(plain.text, 1)
        document = published.text.removeprefix(question_without_document(published.text)).replace("\\", "")
        found += files.apis[place].call.replace("\\", "") in document
    assert found >= least


@pytest.mark.parametrize("hub", COUNTS)
def test_what_is_right_is_right(hub: str) -> None:
    found = cases(hub)
    assert len(found) == COUNTS[hub]
    for case in found:
        assert case.judge is not None
        answer = case.turns[0].answer
        assert isinstance(answer, Operator)
        right = str(answer.operand)
        # Some are no Python: commands of a shell, or arguments in an order that is none.
        if calls_in(right):
            assert case.judge(case, Reply(f"<<<api_call>>>: {right}"), Calls()).valid, case.id


def test_an_imported_question_is_judged_as_the_suite_judges_it(every: int) -> None:
    judged = {case.id: case for hub in COUNTS for case in cases(hub)}
    plain = {case.id: case.turns[0].answer for hub in COUNTS for case in plain_cases(hub)}
    different = []
    for row in islice(answers(), 0, None, max(7, 3 * every)):  # one in 33 by day
        case = judged[f"{row['hub']}_{row['question_id']}"]
        operator = plain[case.id]
        assert case.judge is not None
        assert isinstance(operator, Operator)
        valid = case.judge(case, Reply(row["response"]), Calls()).valid
        if valid is not (api_call(operator.operand, {}, row["response"]) is None):
            different.append((row["setting"], case.id))
    assert different == []
