"""Recorded replies: files for version control, and the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.recordings.file import read_recordings
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.backends.store import ReplyStore
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json, Message
from pytest_fcall.traces.record import Record, SkippedEntry, UnusableRecord
from pytest_fcall.traces.request_parts import is_instruction, messages_of


def file_records(path: Path) -> Iterator[Record | SkippedEntry]:
    """The records of a file. Damaged lines are skipped entries."""
    recordings = read_recordings(path)
    for fault in recordings.faults:
        yield SkippedEntry(f"{path.name}:{fault.location.line}", fault.message)
    yield from _records(recordings.entries, path.name, recordings.model or "")


def store_records(path: Path) -> Iterator[Record | SkippedEntry]:
    """The records of a store, file by file."""
    with closing(ReplyStore(path)) as store:
        for model, file in store.files():
            entries = [kept.entry for kept in store.replies(model, file)]
            yield from _records(entries, f"{path.name}: {file}", model)
        for fault in store.faults:
            yield SkippedEntry(path.name, fault.message)


def _records(entries: Sequence[Recording], place: str, model: str) -> Iterator[Record | SkippedEntry]:
    """One record for each case. The model requests of an app are used only where the app's own reply is missing."""
    answered = {entry.case for entry in entries if entry.http_answer is None}
    for entry in entries:
        if entry.request.sample or (entry.http_answer is not None and entry.case in answered):
            continue
        where = f"{place}: {entry.case}"
        try:
            yield _record(entry, where, model)
        except UnusableRecord as problem:
            yield SkippedEntry(where, str(problem))


def _record(entry: Recording, place: str, model: str) -> Record:
    settings, is_app_request = entry.request.settings, entry.http_answer is not None
    named = settings.get("model")
    return Record(
        messages=_app_messages(entry) if is_app_request else _reply_messages(entry),
        place=place,
        tools=entry.request.tools,
        model=named if is_app_request and isinstance(named, str) else model,
        time=entry.recorded,
        settings={} if is_app_request else without_secrets(settings),
        case_id=entry.case,
    )


def _app_messages(entry: Recording) -> tuple[Message, ...]:
    """The conversation of an app with a model, without system messages: these belong to the app, not to the case."""
    messages = messages_of(list(entry.request.messages))
    return (*(message for message in messages if not is_instruction(message)), _answer(_usable_reply(entry)))


def _reply_messages(entry: Recording) -> tuple[Message, ...]:
    reply = _usable_reply(entry)
    return messages_of(list(reply.trail)) if reply.trail else (*entry.request.messages, _answer(reply))


def _usable_reply(entry: Recording) -> Reply:
    """The reply. Raises UnusableRecord where it holds no answer in calls or text."""
    reply = entry.reply
    if reply.refusal or reply.malformed or reply.finish in ("length", "content_filter", "refusal"):
        raise UnusableRecord(f"the reply holds no answer: {reply.malformed or reply.refusal or reply.finish}")
    if reply.decoder is not None:
        raise UnusableRecord(f"the calls of the reply are text for the decoder {reply.decoder}")
    return reply


def _answer(reply: Reply) -> Message:
    calls: list[Json] = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in reply.tool_calls
    ]
    return messages_of({"role": "assistant", "content": reply.text, "tool_calls": calls})[0]
