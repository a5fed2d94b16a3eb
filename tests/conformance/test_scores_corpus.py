"""Logged runs and small cases, with what the original evaluators of Mannheim, ToolBench and APIBench say.

The rows are not ours to pass on: FCALL_CORPUS names a folder that holds them.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from pytest_fcall.suites.apibench.apis import read_apis
from pytest_fcall.suites.apibench.files import HUBS
from pytest_fcall.suites.apibench.original_rule import OriginalRule, installed_parser, original_parser_folder
from pytest_fcall.suites.json_files import find_file, open_lines
from tests.conformance.conftest import Held
from tests.conformance.corpus import write_part
from tests.integration.command import fcall

CORPUS = Path(os.environ.get("FCALL_CORPUS") or "no-corpus").absolute()
NATIVE = CORPUS / "native" / "apibench"

pytestmark = pytest.mark.skipif(
    not (CORPUS / "mannheim_cases.jsonl").is_file(), reason="FCALL_CORPUS names no folder with the corpus of answers"
)


@pytest.mark.parametrize(
    ("name", "files", "fields"),
    [
        ("mannheim", ["mannheim_cases.jsonl", "mannheim_verdicts.jsonl.gz"], 7),
        ("toolbench", ["toolbench_cases.jsonl"], 6),
    ],
)
def test_every_score_is_that_of_the_original_evaluator(name: str, files: list[str], fields: int, held: Held) -> None:
    done = fcall(CORPUS, "score", "--format", name, "--compare", *files)
    assert done.returncode == 0, done.stderr
    counts = re.findall(r"^\w+: ([\d,]+) of ([\d,]+) agree with the rows$", done.stderr, re.MULTILINE)
    assert len(counts) == fields
    assert all(same == compared != "0" for same, compared in counts)
    suite = {"mannheim": "Mannheim", "toolbench": "ToolBench"}[name]
    held(suite, "all scores of an answer", "the original evaluators", done.stdout.count("\n"))


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory, every: int) -> Path:
    return write_part(CORPUS / "apibench_verdicts.jsonl.gz", tmp_path_factory.mktemp("answers"), every)


@pytest.fixture(scope="module")
def apibench(answers: Path) -> CompletedProcess[str]:
    """The answers, judged and added up."""
    shown = ("--api-db", str(NATIVE / "api"), "--compare", "--totals")
    return fcall(answers.parent, "score", "--format", "apibench", *shown, answers.name)


@pytest.mark.skipif(original_parser_folder() is None, reason="the original's parser is not in this environment")
def test_every_answer_to_apibench_is_judged_as_by_the_original_script(
    apibench: CompletedProcess[str], held: Held
) -> None:
    assert apibench.returncode == 0, apibench.stderr
    held("APIBench", "the verdict, with the original's parser", "the original script", apibench.stdout.count("\n"))
    assert re.search(r"^verdict: (\S+) of \1 agree with the rows$", apibench.stderr, re.MULTILINE)


def test_the_parser_of_today_differs_in_less_than_one_answer_of_a_hundred(answers: Path, held: Held) -> None:
    paths = {hub: find_file(NATIVE / "api", f"{HUBS[hub].apis}.jsonl") for hub in HUBS}
    apis = {hub: read_apis(path) for hub, path in paths.items() if path}
    rules = {hub: OriginalRule(HUBS[hub], apis[hub], installed_parser()) for hub in HUBS}
    with open_lines(answers) as stream:
        rows = [json.loads(line) for line in stream]
    same = sum(rules[row["hub"]](row["response"], row["gold_domain"]) == row["verdict"] for row in rows)
    assert len(rows) * 0.99 < same <= len(rows)
    held("APIBench", "the verdict, with the parser of today", "the original script", len(rows), len(rows) - same)


@pytest.mark.nightly
def test_totals_of_apibench_are_close_to_those_of_all_rows(apibench: CompletedProcess[str]) -> None:
    """The rows are half of all, so the shares are not quite the same."""
    found = dict(re.findall(r"^(\w+ \w+): \S+ rows, ([\d.]+)% correct", apibench.stderr, re.MULTILINE))
    for name, total in json.loads((CORPUS / "apibench_totals.json").read_text()).items():
        share = 100 * total["correct"] / total["n"]
        assert float(found[name.replace("T ", "T_")]) == pytest.approx(share, abs=6), name
