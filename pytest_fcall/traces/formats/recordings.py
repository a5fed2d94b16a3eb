"""Our own recordings: files for version control, and the store of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.recordings.file import read_recordings
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.backends.store import ReplyStore
from pytest_fcall.core import Json, Message, RawCall, Reply
from pytest_fcall.traces.record import Record, SkippedEntry, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of


def of_file(path: Path) -> Iterator[Record | SkippedEntry]:
    """The records of a file; its damaged lines are told."""
    found = read_recordings(path)
    for fault in found.faults:
        yield SkippedEntry(f"{path.name}:{fault.location.line}", fault.message)
    yield from _records(found.entries, path.name, found.model or "")


def of_store(path: Path) -> Iterator[Record | SkippedEntry]:
    """The records of a store, file after file."""
    with closing(ReplyStore(path)) as store:
        for model, file in store.files():
            entries = [kept.entry for kept in store.replies(model, file)]
            yield from _records(entries, f"{path.name}: {file}", model)
        for fault in store.faults:
            yield SkippedEntry(path.name, fault.message)


def _records(entries: Sequence[Recording], place: str, model: str) -> Iterator[Record | SkippedEntry]:
    """One record for each question. What an app asked inside stands for it only where its own reply is not kept."""
    answered = {entry.case for entry in entries if entry.http_answer is None}
    for entry in entries:
        if entry.request.sample or (entry.http_answer is not None and entry.case in answered):
            continue
        where = f"{place}: {entry.case}"
        try:
            yield _record(entry, where, model)
        except UnusableRecord as why:
            yield SkippedEntry(where, str(why))


def _record(entry: Recording, place: str, model: str) -> Record:
    settings, asked = entry.request.settings, entry.http_answer is not None
    named = settings.get("model")
    return Record(
        trail=_app_request_trail(entry) if asked else _reply_trail(entry),
        place=place,
        tools=entry.request.tools,
        model=named if asked and isinstance(named, str) else model,
        moment=entry.recorded,
        settings={} if asked else without_secrets(settings),
        case=entry.case,
    )


def _app_request_trail(entry: Recording) -> tuple[Message, ...]:
    """What an app asked a model, as somebody would ask the app: prompt and settings are its own, and not the case's."""
    said = messages_of(list(entry.request.messages))
    return (
        *(message for message in said if message["role"] not in ("system", "developer")),
        _answer(_usable_reply(entry)),
    )


def _reply_trail(entry: Recording) -> tuple[Message, ...]:
    reply = _usable_reply(entry)
    return messages_of(list(reply.trail)) if reply.trail else (*entry.request.messages, _answer(reply))


def _usable_reply(entry: Recording) -> Reply:
    """The reply. NotSaid where it is no answer."""
    reply = entry.reply
    if reply.refusal or reply.malformed or reply.finish in ("length", "content_filter", "refusal"):
        raise UnusableRecord(f"the reply is no answer: {reply.malformed or reply.refusal or reply.finish}")
    if reply.decoder is not None:
        raise UnusableRecord(f"its calls stand in text, for the decoder {reply.decoder}")
    return reply


def _answer(reply: Reply) -> Message:
    return messages_of({"role": "assistant", "content": reply.text, "tool_calls": list(_calls(reply.tool_calls))})[0]


def _calls(calls: Iterable[RawCall]) -> Iterator[Json]:
    for call in calls:
        yield {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
