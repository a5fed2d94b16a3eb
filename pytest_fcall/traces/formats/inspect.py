"""Logs of inspect_ai: `.eval` through its own library, and the same as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from pytest_fcall.core import Json, Message
from pytest_fcall.traces.record import Record, SkippedEntry, UnreadableTrace, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of, settings_of, tools_of
from pytest_fcall.traces.values import items, mapping, text

_ATTACHED = "attachment://"


def recognises(told: Mapping[str, Json]) -> bool:
    """Whether it is a log as JSON."""
    return isinstance(told.get("samples"), list) and isinstance(told.get("eval"), Mapping)


def read(told: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """Each request to a model, in every sample, is a record; of a sample without its events, its messages are one."""
    for sample in items(told["samples"]):
        yield from _sample(mapping(sample), place, text(mapping(told["eval"]).get("model")) or "")


def of_file(path: Path) -> Iterator[Record | SkippedEntry]:
    """The same of a `.eval` file, sample by sample."""
    try:
        log = import_module("inspect_ai.log")
    except ImportError as error:
        raise UnreadableTrace(
            f"logs of inspect_ai are read by its own library: pip install 'pytest-fcall[inspect]' ({error})"
        ) from None
    try:
        model = str(log.read_eval_log(str(path), header_only=True).eval.model)
        for sample in log.read_eval_log_samples(str(path), all_samples_required=False, resolve_attachments=True):
            yield from _sample(sample.model_dump(mode="json"), path.name, model)
    except (ValueError, OSError, KeyError, RuntimeError) as error:
        raise UnreadableTrace(f"inspect_ai cannot read it: {type(error).__name__}: {error}") from None


def _sample(sample: Mapping[str, Json], place: str, model: str) -> Iterator[Record | SkippedEntry]:
    where = f"{place}: {sample.get('id')}"
    attached = mapping(sample.get("attachments"))
    pool = items(mapping(sample.get("events_data")).get("messages"))
    events = [_unpacked(mapping(event), pool, attached) for event in items(sample.get("events"))]
    asked = [event for event in events if event.get("event") == "model" and not event.get("error")]
    try:
        if not asked and sample.get("messages"):
            yield Record(trail=messages_of(_with_attachments(sample["messages"], attached)), place=where, model=model)
        elif not asked and sample.get("input"):
            asking = messages_of(_with_attachments(sample["input"], attached))
            yield Record(trail=(*asking, *_answer_messages(mapping(sample.get("output")))), place=where, model=model)
        for event in asked:
            yield _record(event, where)
    except UnusableRecord as why:
        yield SkippedEntry(where, str(why))


def _unpacked(event: Mapping[str, Json], pool: Sequence[Json], attached: Mapping[str, Json]) -> Mapping[str, Json]:
    """The event of a model with its input, which may stand in a pool of messages, and long texts apart from both."""
    if event.get("event") != "model":
        return event
    given = list(items(event.get("input"))) or [
        message for ref in items(event.get("input_refs")) for message in _pool_slice(pool, ref)
    ]
    return {
        **event,
        "input": _with_attachments(given, attached),
        "output": _with_attachments(event.get("output"), attached),
    }


def _pool_slice(pool: Sequence[Json], ref: Json) -> Sequence[Json]:
    """The messages from one place in the pool to another."""
    match ref:
        case [int(start), int(end)]:
            return pool[start:end]
    return ()


def _with_attachments(value: Json, attached: Mapping[str, Json]) -> Json:
    if isinstance(value, str):
        return attached.get(value.removeprefix(_ATTACHED), value) if value.startswith(_ATTACHED) else value
    if isinstance(value, Mapping):
        return {key: _with_attachments(inner, attached) for key, inner in value.items()}
    return [_with_attachments(each, attached) for each in value] if isinstance(value, list) else value


def _record(event: Mapping[str, Json], place: str) -> Record:
    output = mapping(event.get("output"))
    return Record(
        trail=(*messages_of(event.get("input")), *_answer_messages(output)),
        place=place,
        tools=tools_of(_without_nulls(event.get("tools"))),
        model=text(event.get("model")) or "",
        moment=text(event.get("timestamp")) or "",
        settings=settings_of({**mapping(event.get("config")), "tool_choice": event.get("tool_choice")}),
    )


def _answer_messages(output: Mapping[str, Json]) -> tuple[Message, ...]:
    choice = mapping(next(iter(items(output.get("choices"))), None))
    if choice.get("stop_reason") not in ("stop", "tool_calls", None) or not choice.get("message"):
        raise UnusableRecord(f"the answer broke off: {choice.get('stop_reason') or 'there is none'}")
    return messages_of(choice["message"])


def _without_nulls(value: Json) -> Json:
    """The value without what is null: schemas are written with all that they do not say."""
    if isinstance(value, Mapping):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value
