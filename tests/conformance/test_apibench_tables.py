"""What docs/suites/apibench.md says of published answers to APIBench is what comes out of them.

The rows are not ours to pass on: FCALL_CORPUS names a folder that holds them, half of all there are.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.suites.apibench.apis import read_apis
from pytest_fcall.suites.apibench.files import HUBS
from pytest_fcall.suites.apibench.grades import GradedAnswer
from pytest_fcall.suites.apibench.strict_rule import StrictRule
from pytest_fcall.suites.json_files import find_file, open_lines
from tests.conformance.conftest import Held
from tests.conformance.corpus import CORPUS

PAGE = (Path(__file__).parents[2] / "docs/suites/apibench.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| (?P<hub>[\w ]*?) ?\| (?P<documents>none|BM25|embeddings|oracle) \| (?P<paper>[\d.]+, [\d.]+) "
    r"\| (?P<original>[\d.]+, [\d.]+) \| (?P<strict>[\d.]+, [\d.]+) \| (?P<exact>[\d.]+) \| (?P<unparsable>[\d.]+) \|$",
    re.MULTILINE,
)
SETTINGS = {"none": "FT 0_shot", "BM25": "RT bm25", "embeddings": "RT gpt_index", "oracle": "RT oracle"}
"""Without documents Gorilla was trained without a retriever, else with one."""
NAMES = {"TorchHub": "torchhub", "TensorFlow Hub": "tensorflowhub", "Hugging Face": "huggingface"}

pytestmark = pytest.mark.skipif(
    not (CORPUS / "apibench_totals.json").is_file(), reason="FCALL_CORPUS names no folder with the answers to APIBench"
)


def table() -> dict[str, re.Match[str]]:
    """The rows of the page, by hub and setting as the totals have them."""
    found, hub = {}, ""
    for row in ROW.finditer(PAGE):
        hub = row["hub"] or hub
        found[f"{NAMES[hub]} {SETTINGS[row['documents']]}"] = row
    return found


@cache
def totals() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = json.loads((CORPUS / "apibench_totals.json").read_text())
    return found


@cache
def answers() -> dict[str, list[dict[str, Any]]]:
    """The rows at hand, by hub and setting."""
    found: dict[str, list[dict[str, Any]]] = {}
    with open_lines(CORPUS / "apibench_verdicts.jsonl.gz") as stream:
        for row in map(json.loads, stream):
            found.setdefault(f"{row['hub']} {row['setting'].replace('_', ' ', 1)}", []).append(row)
    return found


def percent(count: int, of: int) -> str:
    return f"{100 * count / of:.2f}"


def test_the_page_has_a_row_for_each_hub_and_retriever() -> None:
    assert len(table()) == len(NAMES) * len(SETTINGS)
    assert table().keys() < totals().keys() == answers().keys()
    assert len(totals()) == 24


@pytest.mark.parametrize("hub", NAMES.values())
@pytest.mark.parametrize("setting", SETTINGS.values())
def test_the_original_scripts_judge_as_the_page_says(hub: str, setting: str) -> None:
    name = f"{hub} {setting}"
    whole = totals()[name]
    told = f"{percent(whole['correct'], whole['n'])}, {percent(whole['hallucination'], whole['n'])}"
    assert table()[name]["original"] == told


@pytest.mark.parametrize("hub", NAMES.values())
def test_our_rule_judges_as_the_page_says(hub: str) -> None:
    path = find_file(CORPUS / "native/apibench/api", f"{HUBS[hub].apis}.jsonl")
    assert path is not None
    rule = StrictRule(read_apis(path))
    for name, row in table().items():
        if name.startswith(hub):
            rows = answers()[name]
            judged = [rule(each["response"], each["gold_domain"], each["gold_api_call"]) for each in rows]
            assert [row["strict"], row["exact"], row["unparsable"]] == shares(judged), name


def shares(judged: list[GradedAnswer]) -> list[str]:
    words, of = Counter(each.grade for each in judged), len(judged)
    exact = sum(each.exact for each in judged)
    domain, hallucination = percent(words["correct"], of), percent(words["hallucination"], of)
    return [f"{domain}, {hallucination}", percent(exact, of), percent(words["unparsable"], of)]


def test_the_rows_at_hand_are_a_part_of_those_that_the_totals_count() -> None:
    for name, whole in totals().items():
        words = Counter(row["verdict"] for row in answers()[name])
        assert words.total() <= whole["n"] == whole["correct"] + whole["hallucination"] + whole["wrong"]
        assert all(words[word] <= whole[word] for word in ("correct", "hallucination", "wrong")), name


def test_figures_of_tensorflow_hub_come_out_as_they_were_published(held: Held) -> None:
    """The paper cuts digits off."""
    figures: list[bool] = []
    for name, row in table().items():
        whole = totals()[name]
        published = [float(number) for number in row["paper"].split(", ")]
        found = [int(10_000 * whole[word] / whole["n"]) / 100 for word in ("correct", "hallucination")]
        hub = name.partition(" ")[0]
        same = [abs(one - other) < 0.011 for one, other in zip(found, published, strict=True)]
        assert same == {"tensorflowhub": [True, True], "huggingface": [False, True], "torchhub": [False, False]}[hub], (
            name
        )
        figures += same
    held(
        "APIBench",
        "figures that the paper prints",
        "the original scripts on the shipped answers",
        len(figures),
        figures.count(False),
    )
