"""Exports of Langfuse and LangSmith, promptfoo's files, inspect_ai's logs."""

from __future__ import annotations

import json
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Json
from pytest_fcall.traces.files import records_of
from pytest_fcall.traces.record import UnreadableTrace
from tests.unit.traces.support import (
    CHAT_TOOL,
    FLAT_TOOL,
    PARAMETERS,
    calling,
    calls_in,
    chat_call,
    read_all,
    read_one,
    roles,
    saying,
    user,
    write_lines,
)


def written(path: Path, value: Json) -> Path:
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "output",
    [
        calling(),
        [calling()],
        json.dumps(calling()),
        {"choices": [{"message": calling()}]},
        {"tool_calls": [chat_call()], "content": ""},
    ],
    ids=["message", "list", "text", "body", "no-role"],
)
def test_generations_of_langfuse_are_read(tmp_path: Path, output: Json) -> None:
    row: Json = {
        "id": "o1",
        "traceId": "t1",
        "type": "GENERATION",
        "startTime": "2026-11-20T10:00:00Z",
        "model": "gpt-5.2",
        "modelParameters": {"temperature": 0, "max_tokens": 50},
        "input": {"messages": [user("Oslo?")], "tools": [CHAT_TOOL]},
        "output": output,
    }
    record = read_one(tmp_path, row)
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]
    assert record.settings == {"temperature": 0, "max_tokens": 50}
    assert record.model == "gpt-5.2"
    assert len(record.tools) == 1


def test_traces_of_langfuse_bring_their_generations(tmp_path: Path) -> None:
    one: Json = {"type": "GENERATION", "traceId": "t", "input": [user("Oslo?")], "output": "Cold."}
    span: Json = {"type": "SPAN", "traceId": "t", "input": "x", "output": "y"}
    path = written(tmp_path / "export.json", [{"id": "t", "name": "chat", "observations": [span, one]}])
    (record,), unread = read_all(path)
    assert [message["content"] for message in record.messages] == ["Oslo?", "Cold."]
    assert not unread


def test_rows_of_langfuse_in_snake_case_and_in_a_page_are_read(tmp_path: Path) -> None:
    row: Json = {
        "type": "GENERATION",
        "trace_id": "t",
        "provided_model_name": "m",
        "model_parameters": '{"temperature": 1}',
        "input": json.dumps([user("Oslo?")]),
        "output": json.dumps(saying("Cold.")),
    }
    (record,), _ = read_all(written(tmp_path / "page.json", {"data": [row], "meta": {"page": 1}}))
    assert record.model == "m"
    assert record.settings == {"temperature": 1}
    assert record.messages[-1]["content"] == "Cold."


def langchain(name: str, **fields: Json) -> Json:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": fields}


def test_runs_of_langchain_in_langsmith_are_read(tmp_path: Path) -> None:
    call: Json = {"name": "get_weather", "args": {"city": "Oslo"}, "id": "c1", "type": "tool_call"}
    row: Json = {
        "id": "r1",
        "run_type": "llm",
        "start_time": "2026-11-20T10:00:00",
        "inputs": {
            "messages": [
                [
                    langchain("SystemMessage", content="Be brief."),
                    langchain("HumanMessage", content="Oslo?"),
                    langchain("AIMessage", content="", tool_calls=[call]),
                    langchain("ToolMessage", content="3", tool_call_id="c1"),
                ]
            ]
        },
        "outputs": {"generations": [[{"text": "", "message": langchain("AIMessage", content="Cold.", tool_calls=[])}]]},
        "extra": {"invocation_params": {"model": "gpt-5.2", "tools": [CHAT_TOOL], "temperature": 0}},
    }
    record = read_one(tmp_path, row)
    assert roles(record.messages) == ["system", "user", "assistant", "tool", "assistant"]
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]
    assert record.model == "gpt-5.2"
    assert record.settings == {"temperature": 0}
    assert len(record.tools) == 1


def test_calls_that_langchain_keeps_apart_are_read(tmp_path: Path) -> None:
    answer = langchain("AIMessageChunk", content="", additional_kwargs={"tool_calls": [chat_call()]})
    inputs: Json = {"messages": [{"type": "human", "content": "Oslo?"}]}
    record = read_one(
        tmp_path, {"run_type": "llm", "inputs": inputs, "outputs": {"generations": [{"message": answer}]}}
    )
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]


def test_runs_of_wrapped_clients_in_langsmith_are_read(tmp_path: Path) -> None:
    inputs: Json = {"messages": [user("Oslo?")], "tools": [CHAT_TOOL], "temperature": 0}
    child: Json = {"run_type": "llm", "inputs": inputs, "outputs": {"choices": [{"message": calling()}]}}
    row: Json = {"run_type": "chain", "inputs": {"question": "Oslo?"}, "outputs": {}, "child_runs": [child]}
    assert calls_in(read_one(tmp_path, row)) == [("get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize("output", [None, "", "Let me see.", {"content": "Let me see."}])
def test_calls_and_tools_in_columns_of_their_own_are_read(tmp_path: Path, output: Json) -> None:
    row: Json = {
        "id": "o1",
        "trace_id": "t1",
        "type": "GENERATION",
        "input": json.dumps([user("Oslo?")]),
        "output": output if output is None else json.dumps(output),
        "tool_definitions": {
            "get_weather": json.dumps({"description": "Tell.", "parameters": json.dumps(PARAMETERS)}),
            "ping": json.dumps({"description": "", "parameters": ""}),
        },
        "tool_calls": [json.dumps({"id": "c1", "type": "function", "arguments": '{"city": "Oslo"}', "index": 0})],
        "tool_call_names": ["get_weather"],
    }
    record = read_one(tmp_path, row)
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]
    weather, ping = record.tools
    assert (weather.description, weather.parameters) == ("Tell.", PARAMETERS)
    assert (ping.name, ping.description) == ("ping", "")


def test_runs_that_litellm_has_logged_tell_their_tools_and_settings(tmp_path: Path) -> None:
    told: Json = {"messages": [user("Oslo?")], "model_parameters": {"tools": [CHAT_TOOL], "temperature": 0}}
    row: Json = {"run_type": "llm", "inputs": told, "outputs": {"choices": [{"message": calling()}]}}
    record = read_one(tmp_path, row)
    assert [tool.name for tool in record.tools] == ["get_weather"]
    assert record.settings == {"temperature": 0}


def test_of_all_messages_that_a_run_gives_back_the_last_is_the_answer(tmp_path: Path) -> None:
    row: Json = {
        "run_type": "llm",
        "inputs": {"messages": [user("Oslo?")]},
        "outputs": {"messages": [user("Oslo?"), calling()]},
    }
    assert calls_in(read_one(tmp_path, row)) == [("get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize("row", [{"error": "timeout", "outputs": None}, {"outputs": {}}, {"outputs": None}])
def test_runs_without_an_answer_are_told(tmp_path: Path, row: dict[str, Json]) -> None:
    whole: Json = {"run_type": "llm", "inputs": {"messages": [user("Oslo?")]}, **row}
    records, unread = read_all(write_lines(tmp_path / "runs.jsonl", whole))
    assert not records
    assert [each.reason for each in unread] in (["the request failed"], ["there is no answer"])


PROMPTFOO = """\
prompts:
  - "Weather in {{ city }}?"
  - file://prompts/other.txt
providers:
  - id: openai:gpt-5.2
    config:
      tools:
        - type: function
          function:
            name: get_weather
            parameters: {type: object, properties: {city: {type: string}}, required: [city]}
defaultTest:
  assert:
    - type: is-valid-openai-tools-call
tests:
  - vars: {city: Oslo}
  - vars: {city: Rome}
    assert:
      - {type: tool-call-f1, value: [get_weather]}
      - {type: is-json}
      - {type: javascript, value: output.length > 3}
  - vars: {town: Paris}
"""


def test_tests_of_promptfoo_are_read(tmp_path: Path) -> None:
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text(PROMPTFOO, encoding="utf-8")
    records, unread = read_all(path)
    assert [record.messages for record in records] == [(user("Weather in Oslo?"),), (user("Weather in Rome?"),)]
    assert records[0].expectation == {"expect": "any_call"}
    assert records[1].expectation == {"expect": [{"get_weather": {"$ignore": True}, "times": [1, None]}]}
    assert records[1].skip.endswith("promptfoo asserted: `javascript`: `>` is not understood")
    assert [tool.name for tool in records[0].tools] == ["get_weather"]
    assert [(each.place, each.reason) for each in unread][:1] == [
        ("promptfooconfig.yaml:21", "no case can hold the assertion `javascript`: `>` is not understood")
    ]
    assert [each.reason for each in unread][1:] == [
        "the prompt needs 'city', which the test does not define",
        *["other.txt: no such file"] * 3,
    ]


FILES = {
    "prompts/plain.txt": "Weather in {{city}}?\n---\nIs it cold in {{ city }}?",
    "prompts/chat.json": '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{{city}}?"}]',
    "prompts/made.py": "raise SystemExit",
    "tests.csv": "city,__expected,__description\nOslo,contains: {{city}},a\nRome,Warm,b\n",
    "tests/more.yaml": "- vars: {city: [Bonn, Kiel]}\n- vars: file://vars.yaml\n- vars: {city: file://bern.txt}\n",
    "tests/rows.jsonl": '{"vars": {"city": "Bari"}}\n',
    "vars.yaml": "city: Nice\n",
    "bern.txt": "Bern",
}


def promptfoo(folder: Path, config: str) -> tuple[list[str], list[str]]:
    """What users say in the records of a configuration, and why others are none."""
    for name, written in {**FILES, "promptfooconfig.yaml": config}.items():
        path = folder / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written, encoding="utf-8")
    records, unread = read_all(folder / "project" / "promptfooconfig.yaml")
    return [str(record.messages[-1]["content"]) for record in records], [each.reason for each in unread]


def test_prompts_and_tests_of_promptfoo_in_other_files_are_read(tmp_path: Path) -> None:
    said, unread = promptfoo(tmp_path, "prompts: file://./prompts/plain.txt\ntests: file://tests.csv\n")
    assert said == ["Weather in Oslo?", "Weather in Rome?", "Is it cold in Oslo?", "Is it cold in Rome?"]
    assert unread == []
    config = "prompts: [{id: 'file://prompts/chat.json', label: chat}]\ntests: ['file://tests/*']\n"
    said, unread = promptfoo(tmp_path, config)
    assert said == ["Bonn?", "Kiel?", "Nice?", "Bern?", "Bari?"]


def test_what_tables_of_promptfoo_expect_is_read_with_its_values(tmp_path: Path) -> None:
    promptfoo(tmp_path, "prompts: ['{{city}}?']\ntests: file://tests.csv\n")
    records, _ = read_all(tmp_path / "project" / "promptfooconfig.yaml")
    assert [record.expectation for record in records] == [{"answer": {"$contains": "Oslo"}}, {"answer": "Warm"}]


@pytest.mark.parametrize(
    ("prompt", "tests", "why"),
    [
        ("file://prompts/made.py", "[{}]", "made.py: only text, YAML, JSON and CSV are read; programs are never run"),
        ("file://../secret.txt", "[{}]", "secret.txt: the file is outside of the folder of the configuration"),
        ("file:///etc/hostname.txt", "[{}]", "hostname.txt: the file is outside of the folder of the configuration"),
        ("file://prompts", "[{}]", "prompts: only text, YAML, JSON and CSV are read; programs are never run"),
        ("file://none*.txt", "[{}]", "no such file: none*.txt"),
        ("'{{city}}?'", "file://tests.py:make", "tests.py:make: only text, YAML, JSON and CSV are read; *"),
        ("'{{city}}?'", "[{vars: file://none.yaml}]", "none.yaml: no such file"),
        ("'{{city}}?'", "[{vars: {city: file://none.txt}}]", "the value of 'city' is missing: none.txt: no such *"),
        ("'{{city | upper}}?'", "[{vars: {city: Oslo}}]", "the prompt is a template with more than *"),
        ("'{% if a %}b{% endif %}'", "[{}]", "the prompt is a template with more than variables"),
    ],
)
def test_of_what_promptfoo_has_elsewhere_and_is_not_read_it_is_said_why(
    tmp_path: Path, prompt: str, tests: str, why: str
) -> None:
    (tmp_path / "secret.txt").write_text("do not tell", encoding="utf-8")
    said, unread = promptfoo(tmp_path, f"prompts: [{prompt}]\ntests: {tests}\n")
    assert said == []
    assert [fnmatch(each, why) for each in unread] == [True], unread


def test_results_of_promptfoo_are_read(tmp_path: Path) -> None:
    chat = json.dumps([{"role": "system", "content": "Be brief."}, user("Oslo?")])
    rows: Json = [
        {"prompt": {"raw": chat}, "provider": {"id": "openai:gpt-5.2"}, "response": {"output": [chat_call()]}},
        {"prompt": {"raw": "Hi"}, "provider": "m", "response": {"output": "Hello!"}},
        {"prompt": {"raw": "Hi"}, "provider": "m", "response": {"error": "timeout"}},
    ]
    config: Json = {"providers": [{"id": "openai:gpt-5.2", "config": {"tools": [CHAT_TOOL]}}]}
    records, unread = read_all(
        written(tmp_path / "out.json", {"results": {"version": 3, "results": rows}, "config": config})
    )
    assert roles(records[0].messages) == ["system", "user", "assistant"]
    assert calls_in(records[0]) == [("get_weather", {"city": "Oslo"})]
    assert records[0].model == "openai:gpt-5.2"
    assert records[1].messages[-1]["content"] == "Hello!"
    assert [each.reason for each in unread] == ["there is no answer"]


def test_results_of_promptfoo_that_name_their_prompt_are_read(tmp_path: Path) -> None:
    row: dict[str, Json] = {
        "promptIdx": 0,
        "testIdx": 0,
        "testCase": {"vars": {"city": "Oslo"}},
        "response": {"output": "Cold."},
    }
    results: Json = {"prompts": [{"raw": "Weather in {{city}}, {{ now }}?"}], "results": [row, {**row, "promptIdx": 7}]}
    (record,), (unread,) = read_all(written(tmp_path / "out.json", {"results": results}))
    assert record.messages[0]["content"] == "Weather in Oslo, {{ now }}?"
    assert unread.reason == "the row has no prompt"


def test_results_of_promptfoo_in_lines_are_read(tmp_path: Path) -> None:
    row: dict[str, Json] = {"promptIdx": 0, "prompt": {"raw": "Oslo?"}, "response": {"output": [chat_call()]}}
    assert calls_in(read_one(tmp_path, row)) == [("get_weather", {"city": "Oslo"})]


def test_samples_of_inspect_with_nothing_but_input_and_output_are_read(tmp_path: Path) -> None:
    log: Any = inspect_log()
    output = log["samples"][0]["events"][0]["output"]
    log["samples"] = [{"id": "a", "input": "Oslo?", "output": output}, {"id": "b", "input": "Rome?", "output": {}}]
    (record,), (unread,) = read_all(written(tmp_path / "log.json", log))
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]
    assert unread.reason == "there is no answer"


def test_logs_of_inspect_that_keep_messages_in_a_pool_are_read(tmp_path: Path) -> None:
    log: Any = inspect_log()
    (sample,) = log["samples"]
    sample["attachments"] = {"abc": "Oslo, or Rome?"}
    sample["events_data"] = {
        "messages": [user("no"), {"role": "system", "content": "Be brief."}, user("attachment://abc")]
    }
    sample["events"][0] |= {"input": [], "input_refs": [[1, 3]]}
    (record,), unread = read_all(written(tmp_path / "log.json", log))
    assert [message["content"] for message in record.messages[:2]] == ["Be brief.", "Oslo, or Rome?"]
    assert not unread


@pytest.mark.parametrize("refs", [[[0]], [["a", 1]], [[5, 9]], "x", [[-9, 10**9]]])
def test_a_pool_of_inspect_that_makes_no_sense_is_no_end(tmp_path: Path, refs: Json) -> None:
    log: Any = inspect_log()
    log["samples"][0]["events_data"] = {"messages": [user("Oslo?")]}
    log["samples"][0]["events"][0] |= {"input": [], "input_refs": refs}
    read_all(written(tmp_path / "log.json", log))


def inspect_log() -> dict[str, Json]:
    event: Json = {
        "event": "model",
        "model": "openai/gpt-5.2",
        "input": [{"role": "user", "content": "Oslo?"}],
        "tools": [{"name": "get_weather", "description": "Tell the weather.", "parameters": PARAMETERS}],
        "tool_choice": "auto",
        "config": {"temperature": 0.0},
        "output": {
            "model": "gpt-5.2",
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [{"id": "c1", "function": "get_weather", "arguments": {"city": "Oslo"}}],
                    },
                    "stop_reason": "tool_calls",
                }
            ],
        },
    }
    return {
        "version": 2,
        "status": "success",
        "eval": {"model": "openai/gpt-5.2"},
        "samples": [{"id": 1, "events": [event]}],
    }


def test_logs_of_inspect_in_json_are_read(tmp_path: Path) -> None:
    (record,), unread = read_all(written(tmp_path / "log.json", inspect_log()))
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]
    assert record.model == "openai/gpt-5.2"
    assert record.settings == {"temperature": 0.0}
    assert record.place == "log.json: 1"
    assert not unread


def test_samples_of_inspect_without_events_are_their_messages(tmp_path: Path) -> None:
    log = inspect_log()
    log["samples"] = [{"id": "a", "messages": [user("Oslo?"), saying("Cold.")]}]
    (record,), _ = read_all(written(tmp_path / "log.json", log))
    assert roles(record.messages) == ["user", "assistant"]


def test_a_packed_log_of_inspect_is_read_by_its_library(tmp_path: Path) -> None:
    log_library = pytest.importorskip("inspect_ai.log", reason="inspect_ai is an extra")
    started = "2026-11-20T10:00:00+00:00"
    log: Any = inspect_log()
    log["eval"] |= {"created": started, "task": "t", "dataset": {"sample_ids": [1]}, "config": {}}
    log["samples"][0] |= {"epoch": 1, "input": "Oslo?", "target": "cold"}
    log["samples"][0]["events"][0] |= {"timestamp": started, "working_start": 0.0}
    path = tmp_path / "log.eval"
    log_library.write_eval_log(log_library.EvalLog.model_validate(log), str(path))
    (record,), unread = read_all(path)
    assert not unread
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]
    assert record.tools[0].parameters["properties"] == PARAMETERS["properties"]


def test_a_packed_log_of_inspect_wants_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    path = tmp_path / "log.eval"
    path.write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(UnreadableTrace, match="pip install"):
        list(records_of(path))


def test_tools_in_the_form_of_responses_are_read_anywhere(tmp_path: Path) -> None:
    row: Json = {"messages": [user("Oslo?"), calling()], "tools": [FLAT_TOOL, {"type": "web_search"}]}
    assert [tool.name for tool in read_one(tmp_path, row).tools] == ["get_weather"]
