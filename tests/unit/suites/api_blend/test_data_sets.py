from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.core import Calls, Case, FaultyCase, Json, Reply
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.suites.api_blend.data_sets import DATA_SETS
from pytest_fcall.suites.api_blend.files import find_set_files
from pytest_fcall.suites.api_blend.suite import ApiBlendSuite, calls_text
from tests.unit.suites.api_blend.data import ROWS, alpaca, cases, judged, said, write


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
@pytest.mark.parametrize("name", ROWS)
def test_each_format_is_read_and_its_answers_are_judged(tmp_path: Path, name: str, suffix: str) -> None:
    row, right = ROWS[name]
    write(tmp_path / f"{name}{suffix}", row)
    (case,) = cases(tmp_path)
    assert case.id == f"{name}_1"
    assert judged(case, right)
    assert not judged(case, right.replace("(", "X(", 1).replace("[", "Y[", 1).replace('"API": "', '"API": "Z', 1))


@pytest.mark.parametrize("name", sorted(ROWS))
def test_calls_are_written_as_they_are_read(tmp_path: Path, name: str) -> None:
    write(tmp_path / f"{name}.json", ROWS[name][0])
    files = find_set_files(DATA_SETS[name], tmp_path)
    assert files is not None
    (entry,) = files.entries()
    assert entry.sample is not None
    (case,) = cases(tmp_path)
    path = entry.sample.paths[0]
    decoded: Calls = decode(Reply(calls_text(DATA_SETS[name].notation, path), decoder=case.decoder), case.tools)
    assert [(call.name, dict(call.arguments)) for call in decoded.calls] == [
        (call.name, dict(call.arguments)) for call in path
    ]


def test_order_counts_and_each_alternative_is_right(tmp_path: Path) -> None:
    first, second = 'API.set_location("Oslo")\nAPI.search()', 'API.search()\nAPI.set_location("Oslo")'
    write(tmp_path / "toolbench_home_search.jsonl", {"prompt": "A home", "completion": [first]})
    (case,) = cases(tmp_path)
    assert not judged(case, second)
    write(tmp_path / "toolbench_home_search.jsonl", {"prompt": "A home", "completion": [first, second]})
    (case,) = cases(tmp_path)
    assert judged(case, first)
    assert judged(case, second)


def test_a_dialogue_is_a_question_for_each_of_its_calls(tmp_path: Path) -> None:
    write(
        tmp_path / "API-Bank 1" / "alarm.jsonl",
        {"role": "User", "text": "Move my alarm to nine."},
        {"role": "API", "api_name": "DeleteAlarm", "param_dict": {"time": "8"}, "result": {"output": "done"}},
        {"role": "API", "api_name": "AddAlarm", "param_dict": {"time": "9"}, "result": None},
        {"role": "AI", "text": "Done."},
    )
    first, second = cases(tmp_path, "api_bank_1")
    assert said(first).endswith("Query: User: Move my alarm to nine.\nAnswer:")
    assert 'API: DeleteAlarm gave {"output": "done"}' in said(second)
    assert judged(second, "[AddAlarm(time='9')]")


def test_a_dialogue_ends_at_a_turn_that_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "API-Bank 1" / "alarm.jsonl"
    alarm = {"role": "API", "api_name": "AddAlarm", "param_dict": {"time": "9"}, "result": None}
    write(path, {"role": "User", "text": "Nine."}, alarm, {"role": "API"}, alarm)
    first, second = ApiBlendSuite().cases("api_bank_1", tmp_path)
    assert isinstance(first, Case)
    assert (first.location.line, second.location.line) == (2, 3)
    assert isinstance(second, FaultyCase)
    assert "a turn needs `role` and `text`" in second.faults[0].message


def test_searches_for_functions_are_no_questions_where_all_functions_are_told(tmp_path: Path) -> None:
    search: dict[str, Json] = {
        "api_name": "ToolSearcher",
        "param_dict": {"keywords": "alarm"},
        "result": {"output": "AddAlarm"},
    }
    alarm = {"role": "API", "api_name": "AddAlarm", "param_dict": {"time": "9"}, "result": None}
    write(tmp_path / "api_bank_2" / "a.jsonl", {"role": "User", "text": "Nine."}, {"role": "API", **search}, alarm)
    (case,) = cases(tmp_path)
    assert "ToolSearcher gave" in said(case)
    assert "APIs: AddAlarm\n" in said(case)
    asked = {"input": "Nine.", "expected_output": "API-Request: [ToolSearcher(keywords='alarm')]"}
    write(tmp_path / "api_bank_1.json", asked, ROWS["api_bank_2"][0])
    assert len(cases(tmp_path, "api_bank_1")) == 1


@pytest.mark.parametrize(
    ("given", "right", "wrong"),
    [
        ('{"id": ${id from search}, "n": 1}', {"id": 7, "n": 1}, {"id": 7, "n": 2}),
        ('{"id": "{start date}"}', {"id": "today"}, None),
        ('{"ids": [${some id}], "n": 1}', {"ids": [3, 4], "n": 1}, {"ids": [3], "n": 2}),
        ('{"from": ${a day}", "to": ${a day from search, "n": 1}', {"from": 1, "to": 2, "n": 1}, {"n": 2}),
        ('{"symbols": "symbols": ["EUR"]}', {"symbols": ["EUR"]}, {"symbols": "EUR"}),
    ],
)
def test_what_published_answers_leave_open_is_free(tmp_path: Path, given: str, right: Json, wrong: Json) -> None:
    write(tmp_path / "toolalpaca.json", alpaca(given))
    (case,) = cases(tmp_path)
    assert judged(case, json.dumps([{"API": "show", "Parameters": right}]))
    assert wrong is None or not judged(case, json.dumps([{"API": "show", "Parameters": wrong}]))


def test_an_answer_that_cannot_be_read_is_no_hindrance_to_other_questions(tmp_path: Path) -> None:
    write(tmp_path / "toolalpaca.json", alpaca("{", '{"n": 1}'))
    first, second = ApiBlendSuite().cases("", tmp_path)
    assert isinstance(first, FaultyCase)
    assert "the `Action_Input` of show is not JSON" in first.faults[0].message
    assert isinstance(second, Case)


def test_functions_of_the_row_itself_are_told_where_it_has_any(tmp_path: Path) -> None:
    write(tmp_path / "toolllm_g1.json", ROWS["toolllm_g1"][0])
    (case,) = cases(tmp_path)
    assert "Possible APIs: Dog.bark, get_9_Cats.v1_cat\nAnswer with" in said(case)
