"""The published questions with documents that have changed: the calls of the old ones are told apart, all of them.

The files are not ours to pass on: FCALL_CORPUS names a folder that holds them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.core import Calls, Case, Reply
from pytest_fcall.suites.apibench.suite import ApiBenchSuite
from tests.conformance.conftest import Held
from tests.conformance.corpus import CORPUS

NATIVE = CORPUS / "native" / "apibench"

pytestmark = pytest.mark.skipif(not NATIVE.is_dir(), reason="FCALL_CORPUS names no folder with the files of APIBench")


@pytest.mark.parametrize(
    ("hub", "was", "now", "count"),
    [
        ("torchhub", "pytorch/vision", "NVIDIA/DeepLearningExamples:torchhub", 67),
        ("huggingface", "nlptown/bert-base-multilingual-uncased-sentiment", "nlptown/bert-next", 4),
    ],
)
def test_each_call_of_an_old_document_is_outdated(
    tmp_path: Path, held: Held, hub: str, was: str, now: str, count: int
) -> None:
    for folder in ("api", "eval", "questions"):
        (tmp_path / folder).symlink_to(NATIVE / folder)
    (tmp_path / f"{hub}_changes.jsonl").write_text(json.dumps({"was": was, "now": now}))
    cases = [case for case in ApiBenchSuite().cases(f"{hub}_changed", tmp_path) if isinstance(case, Case)]
    assert len(cases) == count
    for case in cases:
        assert case.judge is not None
        document = str(case.turns[0].messages[-1]["content"]).partition("documentation for reference:")[2]
        assert now in document
        right = case.turns[0].answer
        call = str(getattr(right, "operand", ""))
        for answer, grade in ((call, "exact_accuracy"), (call.replace(now, was), "outdated")):
            assert case.judge(case, Reply(f"<<<api_call>>>: {answer}"), Calls()).scores[grade] == (1.0, 1.0), answer
    held(
        "APIBench",
        "the call of a changed document is right, that of the old one outdated",
        "the published calls, moved to another repository or model",
        2 * len(cases),
    )
