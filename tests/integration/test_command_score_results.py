"""`fcall score --format bfcl` on rows that do not say how the model was asked: files of the official harness."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from pytest_fcall.core import Json
from tests.bfcl_data import PACK, SAIL, question, truth, write_category, write_rows
from tests.integration.command import fcall

Row = dict[str, Json]
ARGUMENTS = '{"items": ["rope"]}'
HERMES = '<tool_call>\n{"name": "trip.pack", "arguments": {"items": ["rope"]}}\n</tool_call>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ids = [f"simple_python_{number}" for number in range(4)]
    write_category(
        tmp_path / "data",
        "simple_python",
        [question(id_, "Pack a rope.", PACK) for id_ in ids],
        [truth(id_, {"trip.pack": {"items": [["rope"]]}}) for id_ in ids],
    )
    return tmp_path


def score(folder: Path, results: list[Json], *options: str, **fields: Json) -> CompletedProcess[str]:
    rows: list[Row] = [{"id": f"simple_python_{n}", "result": each, **fields} for n, each in enumerate(results)]
    write_rows(folder / "results.jsonl", rows)
    return fcall(folder, "score", "--format", "bfcl", "--cases", "data", *options, "results.jsonl")


def found(done: CompletedProcess[str]) -> list[Json]:
    return [row["error_type"] for row in map(json.loads, done.stdout.splitlines())]


@pytest.mark.parametrize("name", ["trip.pack", "trip_pack"])
def test_names_are_right_as_the_model_was_offered_them(folder: Path, name: str) -> None:
    done = score(folder, [[{name: ARGUMENTS}], [{name: ARGUMENTS}], [{"pack": ARGUMENTS}]])
    assert found(done) == [None, None, "simple_function_checker:wrong_func_name"]
    assert (done.returncode, done.stderr) == (0, "")


def test_names_that_speak_against_the_others_are_told_and_asked_for(folder: Path) -> None:
    calls: list[Json] = [[{"trip.pack": ARGUMENTS}], [{"trip.pack": ARGUMENTS}], [{"trip_pack": ARGUMENTS}]]
    done = score(folder, calls)
    assert found(done) == [None, None, "simple_function_checker:wrong_func_name"]
    assert done.stderr.startswith("fcall score: 1 of 3 rows: a name is not written as most of the file write theirs")
    assert "--names" in done.stderr
    asked = score(folder, calls, "--names", "underscores")
    assert found(asked) == ["simple_function_checker:wrong_func_name"] * 2 + [None]
    assert asked.stderr == ""


def test_a_row_says_itself_how_names_were_offered(folder: Path) -> None:
    done = score(folder, [[{"trip.pack": ARGUMENTS}]], underscore_to_dot=True)
    assert found(done) == ["simple_function_checker:wrong_func_name"]


def test_arguments_of_native_calls_may_be_objects(folder: Path) -> None:
    done = score(folder, [[{"trip.pack": {"items": ["rope"]}}], [{"trip.pack": {"items": "rope"}}], []])
    assert found(done) == [None, "type_error:simple", "simple_function_checker:wrong_count"]


def test_text_beside_native_calls_is_no_answer_to_a_prompt(folder: Path) -> None:
    done = score(folder, [[{"trip.pack": ARGUMENTS}], "[trip.pack(items=['rope'])]"])
    assert found(done) == [None, "ast_decoder:decoder_failed"]
    assert found(score(folder, ["[trip.pack(items=['rope'])]", "[trip.pack(items=['tent'])]"])) == [
        None,
        "value_error:list/tuple",
    ]


@pytest.mark.parametrize(
    "text",
    [
        HERMES,
        f"[TOOL_CALLS]trip.pack{ARGUMENTS}",
        f'<|python_tag|>{{"name": "trip.pack", "parameters": {ARGUMENTS}}}',
        f'[{{"name": "trip.pack", "arguments": {ARGUMENTS}}}]',
        "<start_function_call>call:trip.pack{items:[<escape>rope<escape>]}<end_function_call>",
    ],
)
def test_calls_in_the_own_format_of_a_model_are_read(folder: Path, text: str) -> None:
    done = score(folder, [text, "I cannot pack.", text])
    assert found(done)[::2] == [None, None]
    assert found(done)[1] in ("ast_decoder:decoder_failed", "simple_function_checker:wrong_count")
    assert (done.returncode, done.stderr) == (0, "")


def test_where_rows_leave_a_doubt_it_is_told_and_the_decoder_can_be_chosen(folder: Path) -> None:
    mixed: list[Json] = [HERMES, "[trip.pack(items=['rope'])]", HERMES]
    done = score(folder, mixed)
    assert found(done) == ["ast_decoder:decoder_failed", None, "ast_decoder:decoder_failed"]
    assert done.stderr.startswith("fcall score: 2 of 3 rows: a call is marked in a format of its own")
    assert "--decoder" in done.stderr
    assert found(score(folder, mixed, "--decoder", "hermes")) == [None, "simple_function_checker:wrong_count", None]


def test_every_decoder_can_be_chosen_by_a_row(folder: Path) -> None:
    row: Row = {"category": "simple_python", "id": "simple_python_0", "style": "FC"}
    write_rows(
        folder / "rows.jsonl",
        [
            {**row, "decoder": "hermes", "raw": HERMES},
            {**row, "decoder": "auto", "raw": HERMES},
            {**row, "decoder": "llama", "raw": "No."},
            {**row, "decoder": "unknown", "raw": HERMES},
        ],
    )
    done = fcall(folder, "score", "--format", "bfcl", "--cases", "data", "rows.jsonl")
    judged = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each.get("error_type") for each in judged] == [None, None, "ast_decoder:decoder_failed", None]
    assert [each.get("strict_valid") for each in judged] == [True, True, False, None]
    assert "or with a `decoder` that `fcall score --format bfcl --help` lists" in judged[-1]["error"]
    helped = fcall(folder, "score", "--format", "bfcl", "--help").stdout
    assert all(name in helped for name in ("hermes", "xlam", "fc_json", "prompt_default"))


def test_the_handler_of_a_file_says_nothing_about_the_next(folder: Path) -> None:
    for name in ("trip.pack", "trip_pack"):
        write_rows(folder / f"{name}.jsonl", [{"id": "simple_python_0", "result": [{name: ARGUMENTS}]}])
    done = fcall(folder, "score", "--format", "bfcl", "--cases", "data", "trip.pack.jsonl", "trip_pack.jsonl")
    assert found(done) == [None, None]


def rest_row(number: int, url: str) -> str:
    return f"requests.get(url='https://sea.example/{url}')"


@pytest.fixture
def rest(tmp_path: Path) -> Path:
    retired = tmp_path / "data" / "unused_datasets"
    get: Row = {**SAIL, "name": "requests.get"}
    urls = ["tides?port=Oslo", "tides?port=Rome", "ports"]
    responses = ['{"high": 1, "low": 2}', '{"high": 3, "low": 2}', '[{"name": "Oslo"}]']
    write_rows(retired / "question" / "BFCL_v4_rest.json", [question(f"rest_{n}", "Tides?", get) for n in range(3)])
    truths: list[Row] = [{"id": f"rest_{n}", "ground_truth": each} for n, each in enumerate(responses)]
    write_rows(retired / "possible_answer" / "BFCL_v4_rest.json", truths)
    right: list[Row] = [{"idx": n, "ground_truth": rest_row(n, url)} for n, url in enumerate(urls)]
    write_rows(retired / "executable_eval_sanity_check" / "api_status_check_ground_truth_rest.json", right)
    return tmp_path


@pytest.mark.parametrize(
    ("case", "answer", "error"),
    [
        (0, "[requests.get(url='https://sea.example/tides', params={'port': 'Oslo'})]", None),
        (0, "[requests.get(url='https://sea.example/tides', params={'port': 'Turku'})]", None),
        (0, [{"requests_get": '{"url": "https://sea.example/tides?port=Oslo"}'}], None),
        (0, [{"requests.get": {"url": "https://sea.example/tides", "headers": {}, "params": {"port": "Oslo"}}}], None),
        (2, "[requests.get(url='https://sea.example/ports')]", None),
        (0, "[requests.get(url='https://sea.example/ports')]", "executable_checker_rest:wrong_type"),
        (0, "[requests.get(url='https://sea.example/waves')]", "case_error:unrecorded_response"),
        (0, "[requests.get(address='https://sea.example/tides')]", "executable_checker_rest:execution_error"),
        (0, "[requests.get(url='https://sea.example/a'), f(a=1)]", "executable_decoder:rest_wrong_output_format"),
        (0, "High.", "executable_decoder:decoder_failed"),
        (0, "[]", "executable_decoder:rest_wrong_output_format"),
    ],
)
def test_rest_is_judged_by_what_servers_once_answered(rest: Path, case: int, answer: Json, error: str | None) -> None:
    write_rows(rest / "results.jsonl", [{"id": f"rest_{case}", "result": answer}])
    done = fcall(rest, "score", "--format", "bfcl", "--cases", "data", "results.jsonl")
    assert done.returncode == 0
    (row,) = map(json.loads, done.stdout.splitlines())
    assert (row["valid"], row["error_type"], row["strict_valid"]) == (error is None, error, error is None)
    told = "fcall score: 1 of 1 row: no recorded response tells what a server answers, and none was asked"
    assert done.stderr.startswith(told if error == "case_error:unrecorded_response" else "")
    assert bool(done.stderr) == (error == "case_error:unrecorded_response")


def test_rest_in_a_file_of_cases_and_without_a_recorded_response(tmp_path: Path) -> None:
    get: Row = {**SAIL, "name": "requests.get"}
    case: Row = {"category": "rest", **question("rest_0", "Tides?", get), "ground_truth": '{"high": 1}'}
    write_rows(
        tmp_path / "cases.jsonl",
        [{**case, "sources": [rest_row(0, "tides")]}, {**case, "id": "rest_1", "ground_truth": None}],
    )
    answer = f"[{rest_row(0, 'tides')}]"
    write_rows(tmp_path / "results.jsonl", [{"id": f"rest_{n}", "result": answer} for n in range(2)])
    done = fcall(tmp_path, "score", "--format", "bfcl", "--cases", "cases.jsonl", "results.jsonl")
    right, broken = map(json.loads, done.stdout.splitlines())
    assert right["valid"] is True
    assert "it has no recorded response to compare with" in broken["error"]
