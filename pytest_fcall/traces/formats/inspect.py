"""Logs of inspect_ai: `.eval` files, read by its own library, and JSON logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from pytest_fcall.core.commands import install_command
from pytest_fcall.core.values import Json, Message
from pytest_fcall.traces.record import Record, SkippedEntry, UnreadableTrace, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of, settings_of, tools_of
from pytest_fcall.traces.values import items, mapping, text

_ATTACHMENT = "attachment://"


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is a JSON log."""
    return isinstance(data.get("samples"), list) and isinstance(data.get("eval"), Mapping)


def read(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """A record for each request to a model. A sample without events gives one record of its messages."""
    for sample in items(data["samples"]):
        yield from _sample(mapping(sample), place, text(mapping(data["eval"]).get("model")) or "")


def file_records(path: Path) -> Iterator[Record | SkippedEntry]:
    """The records of a `.eval` file. Raises UnreadableTrace."""
    for model, sample in file_samples(path):
        yield from _sample(sample, path.name, model)


def file_samples(path: Path) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The samples of a `.eval` file, each with the model of the log. Raises UnreadableTrace."""
    try:
        log = import_module("inspect_ai.log")
    except ImportError as error:
        raise UnreadableTrace(f"logs of inspect_ai need its library: {install_command('inspect')} ({error})") from None
    try:
        model = str(log.read_eval_log(str(path), header_only=True).eval.model)
        for sample in log.read_eval_log_samples(str(path), all_samples_required=False, resolve_attachments=True):
            yield model, sample.model_dump(mode="json")
    except (ValueError, OSError, KeyError, RuntimeError) as error:
        raise UnreadableTrace(f"inspect_ai cannot read the file: {type(error).__name__}: {error}") from None


def sample_answer(sample: Mapping[str, Json]) -> tuple[Message, ...]:
    """The messages of a sample, with the answer. Raises UnusableRecord where there is none."""
    attachments = mapping(sample.get("attachments"))
    output = mapping(_with_attachments(sample.get("output"), attachments))
    if sample.get("error"):
        raise UnusableRecord("the sample failed")
    answer = _answer_messages(output) if output.get("choices") else ()
    messages = messages_of(_with_attachments(sample.get("messages"), attachments)) or answer
    if not any(message["role"] == "assistant" for message in messages):
        raise UnusableRecord("there is no answer")
    return messages


def _sample(sample: Mapping[str, Json], place: str, model: str) -> Iterator[Record | SkippedEntry]:
    where = f"{place}: {sample.get('id')}"
    attachments = mapping(sample.get("attachments"))
    pool = items(mapping(sample.get("events_data")).get("messages"))
    events = [mapping(event) for event in items(sample.get("events"))]
    requests = [event for event in events if event.get("event") == "model" and not event.get("error")]
    try:
        if requests:
            for event in requests:
                yield _record(_resolved(event, pool, attachments), where)
        elif sample.get("messages"):
            messages = messages_of(_with_attachments(sample["messages"], attachments))
            yield Record(messages=messages, place=where, model=model)
        elif sample.get("input"):
            messages = messages_of(_with_attachments(sample["input"], attachments))
            answer = _answer_messages(mapping(sample.get("output")))
            yield Record(messages=(*messages, *answer), place=where, model=model)
    except UnusableRecord as problem:
        yield SkippedEntry(where, str(problem))


def _resolved(event: Mapping[str, Json], pool: Sequence[Json], attachments: Mapping[str, Json]) -> Mapping[str, Json]:
    """The event with its input, which may refer to a pool of messages, and with long texts, which are kept apart."""
    messages = list(items(event.get("input"))) or [
        message for ref in items(event.get("input_refs")) for message in _pool_slice(pool, ref)
    ]
    return {
        **event,
        "input": _with_attachments(messages, attachments),
        "output": _with_attachments(event.get("output"), attachments),
    }


def _pool_slice(pool: Sequence[Json], ref: Json) -> Sequence[Json]:
    match ref:
        case [int(start), int(end)]:
            return pool[start:end]
    return ()


def _with_attachments(value: Json, attachments: Mapping[str, Json]) -> Json:
    if isinstance(value, str):
        return attachments.get(value.removeprefix(_ATTACHMENT), value) if value.startswith(_ATTACHMENT) else value
    if isinstance(value, Mapping):
        return {key: _with_attachments(inner, attachments) for key, inner in value.items()}
    return [_with_attachments(each, attachments) for each in value] if isinstance(value, list) else value


def _record(event: Mapping[str, Json], place: str) -> Record:
    return Record(
        messages=(*messages_of(event.get("input")), *_answer_messages(mapping(event.get("output")))),
        place=place,
        tools=tools_of(_without_nulls(event.get("tools"))),
        model=text(event.get("model")) or "",
        time=text(event.get("timestamp")) or "",
        settings=settings_of({**mapping(event.get("config")), "tool_choice": event.get("tool_choice")}),
    )


def _answer_messages(output: Mapping[str, Json]) -> tuple[Message, ...]:
    choice = mapping(next(iter(items(output.get("choices"))), None))
    if not choice.get("message"):
        raise UnusableRecord("there is no answer")
    if choice.get("stop_reason") not in ("stop", "tool_calls", None):
        raise UnusableRecord(f"the answer is incomplete: {choice.get('stop_reason')}")
    return messages_of(choice["message"])


def _without_nulls(value: Json) -> Json:
    """The value without nulls, which the log writes for every unset key of a schema."""
    if isinstance(value, Mapping):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value
