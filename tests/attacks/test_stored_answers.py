"""Logs of answers that somebody else wrote: a row that is odd is told, is never right, and the others are judged."""

from __future__ import annotations

import gzip
import json
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fcall.cli.score.own_cases import OwnCaseJudge, summary_of
from pytest_fcall.cli.score.rows import JudgedRow, RowBatch, batches_for, judge_batch
from tests.suite_tools import WITHOUT_TOOLS

CASES = """
tools: [{name: look, parameters: {type: object, properties: {at: {type: string}}}}]
cases:
  - {id: hi, prompt: Hi, expect: no_call}
  - {id: look, prompt: Look!, expect: [{look: {at: me}}]}
  - {id: turns, turns: [{user: Look!, expect: [{look: {at: me}}]}, {user: Thanks., expect: no_call}]}
"""
RIGHT = b'{"id": "hi", "reply": "Hello."}'


def row(**fields: object) -> bytes:
    return json.dumps({"id": "hi", **fields}).encode()


def look(arguments: object) -> bytes:
    return row(id="look", reply=[{"name": "look", "arguments": arguments}])


ROWS = {
    "bytes": b"\xff\xfe\x00{",
    "zeros": b"\0" * 100,
    "half of a pair": b'{"id": "\\ud800", "reply": "x"}',
    "brackets": b'{"id": "hi", "reply": ' + b"[" * 100_000,
    "nested lists": b'{"id": "hi", "reply": ' + b"[" * 900 + b"]" * 900 + b"}",
    "many digits": b'{"id": "hi", "reply": ' + b"9" * 10_000 + b"}",
    "no number as a reply": b'{"id": "hi", "reply": NaN}',
    "no number as an argument": b'{"id": "look", "reply": [{"name": "look", "arguments": {"at": NaN}}]}',
    "a list": b'[{"id": "hi", "reply": "Hello."}]',
    "no id": b'{"reply": "Hello."}',
    "an id that is no text": row(id=["hi"], reply="Hello."),
    "an id with escapes": row(id="\x1b[31mhi\r\n", reply="Hello."),
    "an id of a megabyte": row(id="x" * 2**20, reply="Hello."),
    "an id that is a path": row(id="../../own.fc.yaml::hi", reply="Hello."),
    "a file that is none": row(id="look", file="../\x1b", reply="Hello."),
    "a key that is an object": row(key={"a": 1}, reply="Hello."),
    "a key that is true": row(key=True, reply="Hello."),
    "no reply": row(reply=None),
    "a reply and an error": row(reply="Hello.", error="429"),
    "a reply and replies": row(reply="Hello.", replies=["Hello."]),
    "replies that are none": row(replies="Hello."),
    "replies without any": row(replies=[]),
    "more replies than wanted": row(replies=["Hello.", "And more."]),
    "a number": row(reply=7),
    "an odd object": row(reply={"__class__": "Reply", "valid": True}),
    "messages of nobody": row(reply=[{"role": "nobody", "content": "Hello."}]),
    "messages of users alone": row(reply=[{"role": "user", "content": "Hello."}]),
    "an unknown part": row(reply={"role": "assistant", "content": [{"type": "secret_call", "name": "look"}]}),
    "a call that is unreadable": row(id="look", reply={"role": "assistant", "tool_calls": [{"function": 3}]}),
    "arguments that are no object": look('["me"]'),
    "arguments that are cut": look('{"at": "me'),
    "arguments with a key twice": look('{"at": "you", "at": 3}'),
    "arguments in arguments": look({"at": {"at": "me"}}),
    "recorded, no list": row(recorded={"text": "Hello."}),
    "recorded, no object": row(recorded=["Hello."]),
    "recorded, of wrong types": row(recorded=[{"text": 3, "tool_calls": {}}]),
    "recorded, cut short": row(recorded=[{"text": "", "finish": "length"}]),
    "recorded, an unknown decoder": row(id="look", recorded=[{"text": "look()", "decoder": "of nobody"}]),
    "a conversation of one reply": row(id="turns", replies=["Hello."]),
    "a conversation without an end": row(id="turns", replies=[[{"name": "look", "arguments": {"at": "me"}}]] * 500),
    "a verdict of its own": row(valid=True, reasons=[], not_judged=None),
}
FILES: dict[str, tuple[str, bytes]] = {
    "gzip that is cut": ("log.jsonl.gz", gzip.compress(RIGHT * 100)[:-9]),
    "gzip that is none": ("log.jsonl.gz", b"\x1f\x8b and no more"),
    "no Parquet": ("log.parquet", b"PAR1 and no more"),
    "no archive": ("log.eval", b"PK\x03\x04 and no more"),
    "a log without samples": ("log.json", json.dumps({"eval": {}, "samples": [3, None, {}]}).encode()),
    "a log among other rows": ("log.jsonl", json.dumps({"eval": {}, "samples": []}).encode() + b"\n" + RIGHT),
    "half of a log": ("log.json", json.dumps({"eval": {}, "samples": []}, indent=2).encode()[:-5]),
    "recordings that are damaged": ("log.jsonl", b'{"fcall": "replies", "model": "openai:x", "version": 1}\n{\n3\n'),
    "recordings of the future": ("log.jsonl", b'{"fcall": "replies", "model": "openai:x", "version": 99}\n'),
}


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCaseJudge]:
    folder = tmp_path_factory.mktemp("own")
    (folder / "own.fc.yaml").write_text(CASES, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", WITHOUT_TOOLS)
        yield OwnCaseJudge("own.fc.yaml", folder)


def status(judge: OwnCaseJudge, rows: list[JudgedRow]) -> int:
    """The exit status, after every line of results and of the summary was looked at."""
    summary = summary_of(judge, Namespace(compare=False))
    for each in rows:
        assert isinstance(json.loads(each.line), dict)
        summary.add(each)
    lines = [*summary.lines(100), *(each.line for each in rows)]
    assert all(line.isprintable() for line in lines)
    assert max(map(len, summary.lines(100))) < 3000
    return summary.status


@pytest.mark.parametrize("line", ROWS.values(), ids=ROWS)
def test_an_odd_row_is_never_right_and_the_others_are_judged(judge: OwnCaseJudge, line: bytes) -> None:
    rows = judge_batch(judge, RowBatch("log.jsonl", 1, (RIGHT, line, RIGHT)))
    before, odd, behind = (json.loads(each.line).get("valid") for each in rows)
    assert (before, behind) == (True, True)
    assert odd is not True
    assert status(judge, rows) in (1, 10)


@pytest.mark.parametrize(("name", "content"), FILES.values(), ids=FILES)
def test_an_odd_file_is_told_and_the_next_one_is_judged(
    judge: OwnCaseJudge, name: str, content: bytes, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "next.jsonl").write_bytes(RIGHT)
    batches = batches_for(judge, [str(tmp_path / name), str(tmp_path / "next.jsonl")])
    rows = [each for batch in batches for each in judge_batch(judge, batch)]
    assert json.loads(rows[-1].line)["valid"] is True
    assert any(each.problem for each in rows[:-1])
    assert status(judge, rows) == 1
