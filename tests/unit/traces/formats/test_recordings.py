from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.backends.recordings.entry import HttpAnswer, Recording
from pytest_fcall.backends.recordings.file import bookkeeping_path, write_recordings
from pytest_fcall.backends.store import ReplyStore
from pytest_fcall.core import Json, Model, RawCall, Reply, Request, Tool
from pytest_fcall.traces.files import records_of, trace_files
from pytest_fcall.traces.record import UnreadableTrace
from tests.unit.traces.support import calls_in, read_all, roles, saying, user

MODEL = Model("openai", "gpt-5.2")
TOOL = Tool("get_weather", "Tell the weather.")
SYSTEM: dict[str, Json] = {"role": "system", "content": "Be brief."}
ASKED = Request((SYSTEM, user("Oslo?")), (TOOL,), {"temperature": 0, "api_key": "sk-secret"})
CALLED = Reply(tool_calls=(RawCall("get_weather", '{"city": "Oslo"}', "c1"),), finish="tool_calls")
ENTRY = Recording("oslo", "d1", ASKED, CALLED, "2026-11-20T10:00:00+00:00")
WIRE = HttpAnswer(200, "application/json", b"{}")


def written(folder: Path, *entries: Recording) -> Path:
    path = folder / "a.fc.yaml.replies.jsonl"
    write_recordings(path, MODEL, entries)
    return path


def test_recorded_replies_are_read(tmp_path: Path) -> None:
    (record,), unread = read_all(written(tmp_path, ENTRY))
    assert not unread
    assert roles(record.messages) == ["system", "user", "assistant"]
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]
    assert (record.case_id, record.model, record.settings) == ("oslo", "openai:gpt-5.2", {"temperature": 0})


def test_the_store_is_read(tmp_path: Path) -> None:
    path = tmp_path / "replies.db"
    with closing(ReplyStore(path)) as store:
        store.put(MODEL.id, "cases/a.fc.yaml", ENTRY)
    (record,), unread = read_all(path)
    assert not unread
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]
    assert record.place == "replies.db: cases/a.fc.yaml: oslo"


def test_of_several_samples_the_first_counts(tmp_path: Path) -> None:
    again = ENTRY._replace(digest="d2", request=replace(ASKED, sample=1))
    assert len(read_all(written(tmp_path, ENTRY, again))[0]) == 1


def test_what_an_app_asked_inside_stands_for_it_without_its_prompt(tmp_path: Path) -> None:
    (record,), _ = read_all(written(tmp_path, ENTRY._replace(http_answer=WIRE)))
    assert roles(record.messages) == ["user", "assistant"]
    assert record.settings == {}


def test_the_reply_of_the_app_itself_goes_first(tmp_path: Path) -> None:
    outer = ENTRY._replace(digest="d2", reply=Reply(trail=(user("Oslo?"), saying("Cold."))))
    (record,), _ = read_all(written(tmp_path, outer, ENTRY._replace(http_answer=WIRE)))
    assert record.messages[-1]["content"] == "Cold."


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(refusal="No."), "the reply holds no answer: No."),
        (Reply(malformed="broken"), "the reply holds no answer: broken"),
        (Reply("We", finish="length"), "the reply holds no answer: length"),
        (Reply("get_weather()", decoder="python"), "the calls of the reply are text for the decoder python"),
    ],
)
def test_replies_that_are_no_answers_are_told(tmp_path: Path, reply: Reply, why: str) -> None:
    records, unread = read_all(written(tmp_path, ENTRY._replace(reply=reply), ENTRY._replace(case="b", digest="d2")))
    assert len(records) == 1
    assert [each.reason for each in unread] == [why]


def test_damaged_lines_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, ENTRY)
    path.write_bytes(path.read_bytes() + b'{"request": 3}\n')
    records, unread = read_all(path)
    assert len(records) == 1
    assert [each.place for each in unread] == ["a.fc.yaml.replies.jsonl:6"]


def test_the_bookkeeping_of_recordings_is_read_with_them_and_is_nothing_by_itself(tmp_path: Path) -> None:
    path = written(tmp_path, ENTRY)
    assert trace_files(tmp_path) == [path]
    with pytest.raises(UnreadableTrace, match="bookkeeping of recordings"):
        list(records_of(bookkeeping_path(path)))
