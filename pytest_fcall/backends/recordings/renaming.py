"""Recordings whose case, tool or parameter has another name now."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.recordings.file import read_recordings, remove_recordings, write_recordings
from pytest_fcall.core.app import AppSpans, RanTool
from pytest_fcall.core.backend import Model
from pytest_fcall.core.digests import digest, request_digest
from pytest_fcall.core.reply import RawCall
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json
from pytest_fcall.schema.tool_names import ToolRename


def renamed_recording(entry: Recording, model: str, rename: ToolRename) -> Recording | None:
    """The recording under the new name; None where it cannot follow.

    An app's own requests do not, as what came over the wire must stay as it is, nor replies with calls in their text.
    """
    if entry.http_answer is not None or request_digest(model, entry.request) != entry.digest:
        return None
    reply = entry.reply
    if not reply.tool_calls and rename.old in reply.text:
        return None
    request = _renamed_request(entry.request, rename)
    reply = replace(
        reply,
        tool_calls=tuple(_renamed_call(call, rename) for call in reply.tool_calls),
        spans=_renamed_spans(reply.spans, rename),
    )
    return entry._replace(request=request, digest=request_digest(model, request), reply=reply)


def _renamed_request(request: Request, rename: ToolRename) -> Request:
    return replace(
        request,
        tools=tuple(_renamed_tool(tool, rename) for tool in request.tools),
        messages=tuple(_renamed_message(message, rename) for message in request.messages),
    )


def _renamed_tool(tool: Tool, rename: ToolRename) -> Tool:
    return replace(tool, name=rename.name(tool.name), parameters=rename.parameters(tool.name, tool.parameters))


def _renamed_message(message: Mapping[str, Json], rename: ToolRename) -> dict[str, Json]:
    renamed = dict(message)
    if isinstance(calls := message.get("tool_calls"), list):
        renamed["tool_calls"] = [_renamed_message_call(call, rename) for call in calls]
    return renamed


def _renamed_message_call(call: Json, rename: ToolRename) -> Json:
    if not isinstance(call, Mapping) or not isinstance(function := call.get("function"), Mapping):
        return call
    raw = _renamed_call(RawCall(function.get("name"), function.get("arguments")), rename)
    return {**call, "function": {**function, "name": raw.name, "arguments": raw.arguments}}


def _renamed_call(call: RawCall, rename: ToolRename) -> RawCall:
    if not isinstance(call.name, str):
        return call
    return replace(call, name=rename.name(call.name), arguments=_renamed_arguments(call.name, call.arguments, rename))


def _renamed_spans(spans: AppSpans | None, rename: ToolRename) -> AppSpans | None:
    if spans is None:
        return None
    tools = tuple(
        RanTool(rename.name(tool.name), tool.arguments and rename.arguments(tool.name, tool.arguments))
        for tool in spans.tools
    )
    return replace(spans, tools=tools)


def _renamed_arguments(tool: str, arguments: Json, rename: ToolRename) -> Json:
    if tool != rename.parameter_of:
        return arguments
    if isinstance(arguments, Mapping):
        return rename.arguments(tool, arguments)
    try:
        given = json.loads(arguments) if isinstance(arguments, str) else None
    except ValueError:
        return arguments
    return json.dumps(rename.arguments(tool, given), ensure_ascii=False) if isinstance(given, dict) else arguments


def follow(path: Path, target: Path, model: Model, change: Callable[[Recording], Recording | None]) -> tuple[int, int]:
    """Move the recordings of a file that `change` gives another form to `target`, which may be the same file.

    Those for which it gives None stay where they are; a damaged file stays whole. Returns how many have followed, and
    how many have not. Raises OSError and ValueError.
    """
    recordings, other = read_recordings(path), read_recordings(target)
    if recordings.faults or other.faults:
        return 0, len(recordings.entries)
    changed = [(entry, change(entry)) for entry in recordings.entries]
    followed = [new for old, new in changed if new is not None and (new != old or path != target)]
    left = [old for old, new in changed if new is None]
    if followed and path == target:
        write_recordings(path, model, [new or old for old, new in changed])
    elif followed:
        write_recordings(target, model, [*other.entries, *followed])
        if left:
            write_recordings(path, Model.by_id(recordings.model or model.id), left)
        else:
            remove_recordings(path)
    return len(followed), len(left)


def forget(path: Path, cases: Collection[str]) -> int:
    """Take the recordings of these cases out of a file; how many there were. A damaged file stays. Raises OSError."""
    recordings = read_recordings(path)
    kept = [entry for entry in recordings.entries if entry.case not in cases]
    gone = len(recordings.entries) - len(kept)
    if gone and recordings.model is not None and not recordings.faults:
        if kept:
            write_recordings(path, Model.by_id(recordings.model), kept)
        else:
            remove_recordings(path)
        return gone
    return 0


class KeyInputs(NamedTuple):
    """The values that the key of a recording depends on beside the request."""

    model: str
    case: str
    """The argument for pytest that runs the case. It counts for apps behind an address."""


def rekeyed_recording(entry: Recording, old: KeyInputs, new: KeyInputs) -> Recording | None:
    """The recording under its new key; None for an app's own request, whose key cannot be computed anew."""
    if entry.http_answer is not None:
        return None
    before, after = request_digest(old.model, entry.request), request_digest(new.model, entry.request)
    if entry.digest == digest([before, old.case]):
        after = digest([after, new.case])
    elif entry.digest != before:
        return None
    return entry._replace(digest=after)
