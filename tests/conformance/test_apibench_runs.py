"""Published answers to APIBench, given again in a run: its scores are those of `fcall score`.

The rows are not ours to pass on: FCALL_CORPUS names a folder that holds them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bfcl_data import write_rows
from tests.conformance.corpus import CORPUS, rows
from tests.integration.command import fcall, run_pytest

NATIVE = CORPUS / "native" / "apibench"
HUB, SETTING = "torchhub", "RT_bm25"
APP = """
import json
from dataclasses import replace
from pathlib import Path

SAID = {row["question_id"]: row["response"] for row in map(json.loads, Path("answers.jsonl").read_bytes().splitlines())}


def pytest_fcall_request(case, request):
    return replace(request, settings={"number": int(case.id.rpartition("_")[2])})


def answer(request):
    return SAID[request.settings["number"]]
"""
WORDS = {"domain_accuracy": "correct", "exact_accuracy": "exact"}
"""What `fcall score` calls what a run calls otherwise."""
OTHER_PARSER = r"(?: \(not the original's parser\))?"

pytestmark = pytest.mark.skipif(not NATIVE.is_dir(), reason="FCALL_CORPUS names no folder with the files of APIBench")


@pytest.mark.parametrize(("profile", "by"), [("strict", " by strict"), ("original", "")])
def test_a_run_tells_what_fcall_score_tells(tmp_path: Path, profile: str, by: str) -> None:
    given = rows(CORPUS / "apibench_verdicts.jsonl.gz", HUB)
    own = [row for row in given if (row["hub"], row["setting"]) == (HUB, SETTING)]
    write_rows(tmp_path / "answers.jsonl", own)
    (tmp_path / "conftest.py").write_text(APP, encoding="utf-8")
    options = ("--format", "apibench", "--api-db", str(NATIVE / "api"), "--totals")
    totals = fcall(tmp_path, "score", *options, "answers.jsonl").stderr
    done = run_pytest(
        tmp_path,
        *("--tb=no", f"--fc-suite=apibench:{HUB}_bm25", f"--fc-suite-path={NATIVE}"),
        *("--fc-model=python:conftest:answer", f"--fc-suite-profile={profile}"),
        "--fc-pick=" + ",".join(f"{HUB}_bm25_{row['question_id']}" for row in own),
    )
    told = dict(re.findall(rf"(\w+) +{len(own)}  ([01]\.\d{{4}})$", done.stdout, re.MULTILINE))
    told.pop("other_parser", None)  # where the original's is not installed, both say so
    judged = {
        score: share
        for score in told
        for share in re.findall(
            rf"([\d.]+)% {WORDS.get(score, score)}{by}(?: \(not the original's parser\))?(?:,|$)", totals, re.MULTILINE
        )
    }
    assert len(judged) == len(told) == (5 if by else 3), done.stdout + totals
    assert {score: float(share) for score, share in told.items()} == {
        score: pytest.approx(float(share) / 100, abs=1e-4) for score, share in judged.items()
    }
