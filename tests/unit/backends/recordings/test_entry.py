from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.recordings.entry import HttpAnswer, Recording, http_answer_from_data
from pytest_fcall.backends.recordings.line import line_fields, recording_line, recording_of, request_of
from pytest_fcall.core import Json, Reply, Request, Usage
from pytest_fcall.core.json_data import DamagedData

ENTRY = Recording("oslo", "d1", Request(()), Reply("hi"), "2026-11-21T16:30:00+00:00")


@given(body=st.binary() | st.text().filter(str.isprintable).map(str.encode), status=st.integers(200, 599))
def test_every_byte_comes_back(body: bytes, status: int) -> None:
    entry = ENTRY._replace(http_answer=HttpAnswer(status, "application/json", body))
    fields = line_fields(recording_line(entry, "").encode())
    assert recording_of(fields, request_of(fields, (), {})) == entry


def test_what_a_batch_counted_of_the_tokens_comes_back() -> None:
    usage = Usage(15, 4, 2, batched=Usage(10, 4, 2))
    entry = ENTRY._replace(reply=replace(ENTRY.reply, usage=usage))
    fields = line_fields(recording_line(entry, "").encode())
    assert recording_of(fields, request_of(fields, (), {})).reply.usage == usage


def test_text_stays_readable_in_a_file() -> None:
    wire = HttpAnswer(200, "application/json", '{"text": "Tromsø"}'.encode())
    assert '"body": "{\\"text\\": \\"Tromsø\\"}"' in recording_line(ENTRY._replace(http_answer=wire), "")


def test_a_reply_that_did_not_come_that_way_says_nothing_of_it() -> None:
    assert "wire" not in json.loads(recording_line(ENTRY, ""))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (7, "`wire` is not a mapping"),
        ({"status": 99, "type": "", "body": ""}, "not the status of an answer"),
        ({"status": "200", "type": "", "body": ""}, "`status` is not an integer"),
        ({"status": 200, "type": "text/plain"}, "`body` is missing"),
        ({"status": 200, "type": "text/plain", "body": "\ud800"}, "`body` is not valid text"),
        ({"status": 200, "type": "text/plain", "base64": "ø"}, "`base64` is not valid base64"),
        ({"status": 200, "type": "text/plain", "base64": "abc"}, "`base64` is not valid base64"),
    ],
)
def test_anything_else_is_damaged(data: Json, words: str) -> None:
    with pytest.raises(DamagedData, match=words):
        http_answer_from_data(data)
