"""Runs that add to the files of earlier ones."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from typing import Any

from pytest_fcall.core import Json
from pytest_fcall.suites.bfcl.suite import BfclSuite

Folder = dict[str, str]


def row(id_: str, *, right: bool = True, native: bool = True, **more: Json) -> dict[str, Json]:
    kept: dict[str, Json] = {
        "category": id_.partition(":")[0].rpartition("_")[0],
        "native": native,
        "result": {"id": id_, "result": "x", "latency": 1.0},
        **more,
    }
    return kept if right else {**kept, "wrong": {"error": ["no"], "error_type": "value_error:string"}}


def write(folder: Folder, model: str, *rows: dict[str, Json], cost: float | None = 1.0) -> None:
    folder.update(dict(BfclSuite().files({model: rows}, {model: cost}, folder.get)))


def records(folder: Folder, name: str) -> list[dict[str, Any]]:
    (text,) = [text for place, text in folder.items() if place.endswith(name)]
    return [json.loads(line) for line in text.splitlines()]


def table(folder: Folder) -> Sequence[dict[str, str]]:
    return [*csv.DictReader(folder["score/data_overall.csv"].splitlines())]


def test_shares_that_are_written_one_after_the_other_come_to_the_whole() -> None:
    folder: Folder = {}
    write(folder, "m", row("simple_python_10", right=False), row("simple_python_2"))
    write(folder, "m", row("simple_python_1"), row("simple_python_3", right=False))
    results = records(folder, "simple_python_result.json")
    assert [result["id"] for result in results] == [f"simple_python_{n}" for n in (1, 2, 3, 10)]
    head, *wrong = records(folder, "simple_python_score.json")
    assert head == {"accuracy": 0.5, "correct_count": 2, "total_count": 4}
    assert [each["id"] for each in wrong] == ["simple_python_3", "simple_python_10"]
    assert wrong[1]["error_type"] == "value_error:string"


def test_what_is_asked_again_counts_as_it_is_answered_now() -> None:
    folder: Folder = {}
    write(folder, "m", row("simple_python_0", right=False), row("simple_python_1", right=False))
    write(folder, "m", row("simple_python_1"))
    head, *wrong = records(folder, "simple_python_score.json")
    assert (head["correct_count"], [each["id"] for each in wrong]) == (1, ["simple_python_0"])


def test_the_table_counts_other_parts_and_keeps_other_models() -> None:
    folder: Folder = {}
    write(folder, "a", row("irrelevance_0"), row("live_irrelevance_0"))
    write(folder, "b", row("irrelevance_0"))
    write(folder, "b", row("live_irrelevance_0", right=False))
    told = [(line["Rank"], line["Model"], line["Irrelevance Detection"]) for line in table(folder)]
    assert told == [("1", "a-FC", "100.00%"), ("2", "b-FC", "50.00%")]
    assert [line["Total Cost ($)"] for line in table(folder)] == ["1.00", "N/A"]


def test_answers_to_a_prompt_are_another_model() -> None:
    folder: Folder = {}
    write(folder, "m", row("irrelevance_0"))
    write(folder, "m", row("irrelevance_0", native=False))
    assert {line["Model"] for line in table(folder)} == {"m", "m-FC"}


def test_formats_and_earlier_conversations_are_found_again() -> None:
    folder: Folder = {}
    asked = "format_sensitivity_{}:ret_fmt=json&tool_call_tag=True&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic"
    for number in (0, 1):
        id_ = f"{asked.format(number)}:simple_python_{number}"
        write(folder, "m", row(id_, native=False, category="format_sensitivity/json_tagged/xml"))
    head, *_ = records(folder, "format_sensitivity_score.json")
    assert head[asked.format(0).partition(":")[2]]["total_count"] == 2
    for number in (0, 1):
        earlier: Json = [{"id": f"memory_kv_prereq_{number}", "result": []}]
        write(folder, "m", row(f"memory_kv_{number}-customer-{number}", category="memory_kv", earlier=earlier))
    assert [each["id"] for each in records(folder, "prereq_result.json")] == [
        "memory_kv_prereq_0",
        "memory_kv_prereq_1",
    ]


def test_files_that_are_none_are_written_anew() -> None:
    folder: Folder = {}
    write(folder, "m", row("simple_python_0"))
    for place in folder:
        folder[place] = "{broken"
    write(folder, "m", row("simple_python_1"))
    assert [result["id"] for result in records(folder, "simple_python_result.json")] == ["simple_python_1"]
    assert len(table(folder)) == 1
