"""Everything that reads a file, or the body of an answer, each behind one function. None may raise."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from pytest_fcall.backends.recordings.answers import answer_fault, interface_of, read_recording
from pytest_fcall.backends.recordings.entry import HttpAnswer, Recording, UnreadRecording
from pytest_fcall.backends.recordings.file import bookkeeping_path, read_recordings, recordings_path, write_recordings
from pytest_fcall.backends.spans.otlp import OtlpError, spans_in_json, spans_in_protobuf
from pytest_fcall.backends.store.database import StoreError
from pytest_fcall.backends.store.replies import NewReply, ReplyStore, store_path
from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.core import Model, RawCall, Reply, Request, Usage
from pytest_fcall.core.digests import request_digest
from pytest_fcall.reporting.result_json import results_from_json
from pytest_fcall.traces.case_files import WrittenFile, write_case_files
from pytest_fcall.traces.extraction import Extraction
from pytest_fcall.traces.masking import Masker
from pytest_fcall.traces.record import UnreadableTrace
from pytest_fcall.tracking.baseline_content import UnreadableStanza
from pytest_fcall.tracking.baseline_file import read_baseline
from pytest_fcall.tracking.bookkeeping import measurement_path
from pytest_fcall.tracking.history import verdicts_of
from pytest_fcall.tracking.run_file import RunFileError, read_run
from tests.fuzz.targets import TOOLS, reading
from tests.unit.traces.test_hostile import LOGS

MODEL = Model("openai", "gpt-5.2")
SEPARATOR = b"\n\x00\n"
"""Parts a file that people review from its bookkeeping."""
CASES = """\
tools:
  - name: get_weather
    description: Weather of a city.
    parameters: {type: object, properties: {city: {type: string}, days: {type: integer}}, required: [city]}
defaults: {tags: [weather]}
cases:
  - {id: oslo, prompt: Weather in Oslo?, expect: [{get_weather: {city: Oslo, days: {$approx: 3}}}], tags: [a, b]}
  - {id: rome, prompt: "Weather in Rome, or Oslo?", expect: [{get_weather: {city: {$any: [Rome, Oslo]}, days: 3}}]}
  - id: thanks
    messages: [{role: system, content: &anchor Be short.}, {role: user, content: *anchor}]
    expect: no_call
    xfail: it calls
"""
APP = """
def answer(request):
    return [{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}]
"""
PATHS = (
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1beta/models/gemini:generateContent",
    "/api/chat",
    "/model/m/converse-stream",
    "/v2/chat",
)
CONTENT_TYPES = ("application/json", "text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream")

BODIES = (
    b'{"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function",'
    b' "function": {"name": "f", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}], "usage": {"total_tokens": 3}}',
    b'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n',
    b'{"status": "completed", "output": [{"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}]}',
    b'{"type": "message", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}], "stop_reason": "x"}',
    b'{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {}}}]}, "finishReason": "STOP"}]}',
    b'{"message": {"content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, "done": true}',
    b'{"output": {"message": {"content": [{"toolUse": {"name": "f", "input": {}}}]}}, "stopReason": "a"}',
    b'{"message": {"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}, "finish_reason": "a"}',
)

SPANS_IN_JSON = (
    b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId":'
    b' "b7ad6b7169203331", "name": "execute_tool f", "startTimeUnixNano": "1", "endTimeUnixNano": "2", "attributes":'
    b' [{"key": "gen_ai.tool.name", "value": {"stringValue": "f"}}, {"key": "a", "value": {"arrayValue": {"values":'
    b' [{"intValue": "3"}, {"kvlistValue": {"values": []}}]}}}]}]}]}]}'
)
SPANS_IN_PROTOBUF = bytes.fromhex(f"0a23 1221 121f 0a10 {'0a' * 16} 1208 {'0b' * 8} 2a01 66")


class FileTarget(NamedTuple):
    """A reader of bytes."""

    run: Callable[[bytes, Path], object]
    """Reads the bytes; the folder is for files."""
    seeds: Callable[[Path], Iterable[bytes]]
    """Bytes to begin with: files of a project in this folder, which `make_project` made."""


def make_project(folder: Path) -> None:
    """Make a project that has one of each of our files."""
    (folder / "weather.fc.yaml").write_text(CASES)
    (folder / "app.py").write_text(APP)
    (folder / "pytest.ini").write_text("[pytest]\nfc_model = python:app:answer\n")
    for module, *arguments in (["pytest", "-q", "--fc-live"], ["pytest_fcall.cli", "accept"]):
        subprocess.run([sys.executable, "-m", module, *arguments], cwd=folder, check=True, capture_output=True)
    recordings = [_recording(city) for city in ("Oslo", "Rome")]
    with closing(ReplyStore(store_path(folder))) as store:
        store.put_all(NewReply(MODEL.id, "weather.fc.yaml", each) for each in recordings)
    with closing(sqlite3.connect(store_path(folder))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    write_recordings(recordings_path(folder / "weather.fc.yaml", MODEL), MODEL, recordings)


def _recording(city: str) -> Recording:
    request = Request(({"role": "user", "content": f"Weather in {city}?"},), TOOLS)
    reply = Reply("é", (RawCall("find", json.dumps({"city": city})),), usage=Usage(3, 4), seconds=0.5)
    return Recording(city, request_digest(MODEL.id, request), request, reply, "2026-01-02T03:04:05+00:00")


def targets() -> dict[str, FileTarget]:
    """The readers, by name."""
    return {
        "decoders": FileTarget(_decoders, _texts),
        "cases": FileTarget(_cases, lambda folder: [(folder / "weather.fc.yaml").read_bytes()]),
        "baseline": FileTarget(_baseline, _baselines),
        "recordings": FileTarget(_recordings, _recorded),
        "run-file": FileTarget(_run_file, lambda folder: _contents(folder.glob(".fcall/runs/*.json"))),
        "store": FileTarget(_store, lambda folder: [store_path(folder).read_bytes()]),
        "answers": FileTarget(_answers, _bodies),
        "spans": FileTarget(_spans, lambda _: [SPANS_IN_JSON, SPANS_IN_PROTOBUF]),
        "traces": FileTarget(_traces, lambda _: [json.dumps(log).encode() for log in LOGS]),
    }


def _contents(paths: Iterable[Path]) -> list[bytes]:
    return [path.read_bytes() for path in paths]


def _bodies(_: Path) -> list[bytes]:
    return [bytes([place]) + body for body in BODIES for place in range(len(PATHS))]


def _texts(_: Path) -> list[bytes]:
    call = '{"name": "find", "arguments": {"city": "Oslo"}}'
    return [
        text.encode()
        for text in (call, f"<tool_call>{call}</tool_call>", "[find(city='Oslo')]", f"```json\n{call}\n```")
    ]


def _baselines(folder: Path) -> list[bytes]:
    contract = next(folder.rglob("*.accepted"))
    return [contract.read_bytes() + SEPARATOR + measurement_path(contract).read_bytes()]


def _recorded(folder: Path) -> list[bytes]:
    reviewed = next(folder.rglob("*.replies.jsonl"))
    return [reviewed.read_bytes() + SEPARATOR + bookkeeping_path(reviewed).read_bytes()]


def _decoders(content: bytes, _: Path) -> None:
    text = content.decode("utf-8", "surrogateescape")
    for run in reading().values():
        run(text)


def _cases(content: bytes, folder: Path) -> None:
    path = folder / "a.fc.yaml"
    path.write_bytes(content)
    with suppress(UnreadableFile):
        read_case_file(path, root=folder)


def _baseline(content: bytes, folder: Path) -> None:
    path = folder / "a.fc.yaml.accepted"
    _write_both(content, path, measurement_path(path))
    baseline = read_baseline(path)
    assert baseline
    for case in baseline.stanzas:
        with suppress(UnreadableStanza):
            assert baseline.stanzas[case]


def _recordings(content: bytes, folder: Path) -> None:
    path = folder / "a.replies.jsonl"
    _write_both(content, path, bookkeeping_path(path))
    read_recordings(path)


def _write_both(content: bytes, path: Path, bookkeeping: Path) -> None:
    reviewed, _, kept = content.partition(SEPARATOR)
    path.write_bytes(reviewed)
    bookkeeping.write_bytes(kept)


def _run_file(content: bytes, folder: Path) -> None:
    path = folder / "run.json"
    path.write_bytes(content)
    with suppress(RunFileError):
        run = read_run(path)
        list(verdicts_of(run))
        with suppress(ValueError):
            results_from_json(run.results)


def _store(content: bytes, folder: Path) -> None:
    path = folder / "replies.db"
    for each in folder.glob("replies.db*"):
        each.unlink()
    path.write_bytes(content)
    with suppress(StoreError), closing(ReplyStore(path)) as store:
        list(store.replies())


def _answers(content: bytes, _: Path) -> None:
    path = PATHS[content[0] % len(PATHS)] if content else ""
    for content_type in CONTENT_TYPES:
        answer = HttpAnswer(200, content_type, content[1:])
        if not answer_fault(interface_of(path), answer):
            read_recording(UnreadRecording("case", "digest", Request(()), path, answer, None, ""))


def _spans(content: bytes, _: Path) -> None:
    for read in (spans_in_json, spans_in_protobuf):
        with suppress(OtlpError):
            read(content)


def _traces(content: bytes, folder: Path) -> None:
    path = folder / "log.json"
    path.write_bytes(content)
    out = folder / "cases"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    with suppress(UnreadableTrace):
        extraction = Extraction([path], Masker())
        for written in write_case_files(extraction.cases(), out, "log"):
            if isinstance(written, WrittenFile):
                assert len(read_case_file(written.path, root=out).faults) <= written.without_expectation
