"""Files as they come: truncated, wrong, huge, packed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from pytest_fcall.traces.files import records_of, trace_files
from pytest_fcall.traces.record import UnreadableTrace
from tests.unit.traces.support import calling, chat_log, read_all, read_one, user, write_lines

ROW = chat_log([user("Oslo?")], calling())


def test_lines_that_broke_off_are_told_and_the_others_count(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    good = json.dumps(ROW)
    path.write_text(f"{good[:40]}\n{good}\n\n{good[:-5]}\n", encoding="utf-8")
    records, unread = read_all(path)
    assert [record.place for record in records] == ["log.jsonl:2"]
    assert [each.place for each in unread] == ["log.jsonl:1", "log.jsonl:4"]
    assert all(each.reason.startswith("not JSON") for each in unread)


@pytest.mark.parametrize(
    "row",
    [
        {"request": 3, "response": []},
        {"request": {"messages": [3]}},
        {"request": {"messages": [{"role": 3}]}},
        {"request": {"messages": [{"role": "user", "content": {"a": 1}}]}},
        {"request": {"messages": []}, "response": {"choices": 5}},
        {"messages": [user("x"), {"role": "assistant", "tool_calls": "call me"}]},
        {"messages": [user("x"), {"role": "assistant", "tool_calls": [[1]]}]},
        {"messages": [user("x")], "tools": {"a": 1}, "response": {"choices": [{"message": None}]}},
        {"resourceSpans": 5},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": {"gen_ai.input.messages": 4}}]}]}]},
        {"run_type": "llm", "inputs": []},
        {"observations": [3, None], "id": "x"},
        {"type": "GENERATION", "traceId": "t", "input": [[[]]], "output": [3]},
        {"samples": [4], "eval": {}},
        {"results": [{"prompt": 3}]},
        {"prompts": {"a": 1}, "tests": [3]},
    ],
    ids=str,
)
def test_wrong_types_are_no_records_and_no_crash(tmp_path: Path, row: Json) -> None:
    path = write_lines(tmp_path / "log.jsonl", row, ROW)
    records, _ = read_all(path)
    assert records[-1].place == "log.jsonl:2"


def test_a_file_of_nothing_known_says_what_was_looked_for(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "log.jsonl", {"level": "info"}, {"level": "warn"})
    with pytest.raises(UnreadableTrace, match=r"no traces found; known formats: .*OpenTelemetry.*LangSmith"):
        list(records_of(path))


@pytest.mark.parametrize(
    "content", [b"", b"\n \n", b"\xff\xfe\x00", b"just words", b"[1, 2", b"a: [", b"\x1f\x8b\x08\x00broken"]
)
def test_what_is_no_traces_is_said_in_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(UnreadableTrace) as caught:
        list(records_of(path))
    assert str(caught.value)


def test_compressed_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(ROW).encode()))
    assert len(read_all(path)[0]) == 1


def test_a_compressed_file_that_breaks_off_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(ROW).encode() * 50)[:-20])
    with pytest.raises(UnreadableTrace, match="the compressed data is damaged"):
        list(records_of(path))


def test_a_list_in_lines_of_its_own_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps([ROW, ROW], indent=1), encoding="utf-8")
    assert [record.place for record in read_all(path)[0]] == ["log.json, item 1", "log.json, item 2"]


def test_half_characters_are_mended(tmp_path: Path) -> None:
    record = read_one(tmp_path, chat_log([user("Oslo \ud83d?")], calling()))
    assert record.messages[0]["content"] == "Oslo \ufffd?"


def test_a_prompt_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    record = read_one(tmp_path, chat_log([user("word " * 2_000_000)], calling()))
    assert len(str(record.messages[0]["content"])) == 10_000_000


def test_nesting_without_end_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(ROW) + "\n" + '{"messages":' + "[" * 200_000 + "\n", encoding="utf-8")
    records, unread = read_all(path)
    assert len(records) == 1
    assert [each.reason for each in unread] == ["JSON that is nested too deeply"]


def test_numbers_without_end_are_told(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(ROW) + '\n{"a": ' + "9" * 10_000 + "}\n", encoding="utf-8")
    assert [each.reason for each in read_all(path)[1]] == ["JSON with a number of thousands of digits"]


def test_hidden_files_of_a_folder_are_passed_over(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/c.jsonl", ".git/d.jsonl", ".e.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_lines(tmp_path / name, ROW)
    assert [path.name for path in trace_files(tmp_path)] == ["b.jsonl", "c.jsonl"]


def pretty(*rows: Json) -> str:
    return "".join(json.dumps(row, indent=4) + "\n" for row in rows)


def test_objects_that_follow_each_other_over_several_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "spans.log"
    path.write_text(pretty(ROW, ROW, ROW), encoding="utf-8")
    lines = len(pretty(ROW).splitlines())
    records, unread = read_all(path)
    assert [record.place for record in records] == [f"spans.log:{1 + lines * number}" for number in range(3)]
    assert not unread


def test_what_stands_between_objects_is_told(tmp_path: Path) -> None:
    path = tmp_path / "spans.log"
    path.write_text(
        f"Hello: [\n{pretty(ROW)}No, {{not}} this.\n{pretty(ROW)[:99]}\n{pretty(ROW)}Bye.", encoding="utf-8"
    )
    lines = len(pretty(ROW).splitlines())
    records, unread = read_all(path)
    broken = len(pretty(ROW)[:99].splitlines())
    assert [record.place for record in records] == ["spans.log:2", f"spans.log:{3 + lines + broken}"]
    assert [(each.place, each.reason) for each in unread] == [
        ("spans.log:1", "not JSON up to the next object"),
        (f"spans.log:{2 + lines}", "not JSON up to the next object"),
        (f"spans.log:{3 + lines}", "not JSON up to the next object"),
        (f"spans.log:{3 + 2 * lines + broken}", "not JSON from here on"),
    ]


def test_text_with_objects_that_all_are_broken_says_what_was_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "spans.log"
    path.write_text('{\n"a":\n' * 100_000, encoding="utf-8")
    with pytest.raises(UnreadableTrace, match=r"JSON.*; known formats: "):
        list(records_of(path))


def test_of_text_that_is_mostly_no_json_the_rest_is_told(tmp_path: Path) -> None:
    path = tmp_path / "spans.log"
    path.write_text(pretty(ROW) + "{\n?\n" * 200 + pretty(ROW), encoding="utf-8")
    records, unread = read_all(path)
    assert len(records) == 1
    assert unread[-1].reason == "not JSON from here on"
