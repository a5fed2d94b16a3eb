"""Files of replies that came from elsewhere: one reply in a row, named by the digest of the request."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pytest_fcall.backends.recordings.entry import reply_from_data
from pytest_fcall.backends.wrapper import innermost
from pytest_fcall.core.backend import CaseRefused, ModelUnavailable, Unanswered, offline_backend
from pytest_fcall.core.json_data import DamagedData, as_mapping, optional_field, read_own_json
from pytest_fcall.core.parquet import SUFFIX, read_parquet
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.storage import folder_and_name, is_address, open_address, title_of
from pytest_fcall.core.values import Json
from pytest_fcall.session.ask.types import Question
from pytest_fcall.suites.json_files import decompress_stream, open_lines, read_lines

_REPLY_EXAMPLE = '{"text": "Hello."} or {"tool_calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]}'
_FORMS = "`reply`, `response` or `error`"


class ReplyRow(NamedTuple):
    """A row of a file."""

    place: str
    """The file and the line."""
    data: Mapping[str, Json]
    fault: str = ""
    """The reason why the row cannot be read; `data` is empty then."""

    @property
    def digest(self) -> str:
        """The digest of the request that it answers. Raises DamagedData, also where the row cannot be read."""
        if self.fault:
            raise DamagedData(self.fault)
        digest = self.data.get("digest", self.data.get("custom_id"))
        if not isinstance(digest, str) or not digest:
            raise DamagedData("`digest` (or `custom_id`) must name the request")
        return digest


class NoReply(Exception):
    """A row holds no reply to its request. The text says why."""


def read_reply_rows(name: str) -> Iterator[ReplyRow]:
    """The rows of a file by its path or address: JSON Lines, packed or not, or Parquet; `-` is standard input.

    Raises OSError.
    """
    title = title_of(name)
    if folder_and_name(name)[1].endswith(SUFFIX):
        with open_address(name) if is_address(name) else nullcontext(Path(name)) as source:
            for number, data in enumerate(read_parquet(source), 1):
                yield _columns_row(f"{title}: row {number}", data)
    elif name == "-":
        with decompress_stream(sys.stdin.buffer) as stream:  # type: ignore[arg-type]
            yield from _rows("standard input", read_lines(stream))
    elif is_address(name):
        with open_address(name) as source, decompress_stream(source) as stream:
            yield from _rows(title, read_lines(stream))
    else:
        with open_lines(Path(name)) as stream:
            yield from _rows(title, read_lines(stream))


def _rows(name: str, lines: Iterator[bytes]) -> Iterator[ReplyRow]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            place = f"{name}:{number}"
            try:
                yield ReplyRow(place, as_mapping(read_own_json(line), "this line"))
            except DamagedData as error:
                yield ReplyRow(place, {}, str(error))
            except ValueError as error:
                cut = "" if line.endswith(b"\n") else "; the file may be cut short here"
                yield ReplyRow(place, {}, f"this line is {error}{cut}")


def _columns_row(place: str, data: Mapping[str, Json]) -> ReplyRow:
    """A row of Parquet, whose columns may hold JSON as text."""
    try:
        fields = {
            name: read_own_json(value) if isinstance(value, str) and name in ("reply", "response", "error") else value
            for name, value in data.items()
            if value is not None
        }
    except ValueError as error:
        return ReplyRow(place, {}, f"a column of this row is {error}")
    return ReplyRow(place, fields)


async def reply_in(row: ReplyRow, question: Question) -> Reply:
    """The reply in a row. Raises NoReply where there is none, and DamagedData for a row of another form."""
    given = [name for name in ("reply", "response", "error") if row.data.get(name) is not None]
    if given == ["error"]:
        raise NoReply(f"an error of what answered: {_error_text(row.data['error'])}")
    if given == ["reply"]:
        reply = row.data["reply"]
        if not isinstance(reply, Mapping):
            raise DamagedData(f"`reply` must not be {json.dumps(reply):.60} but an object, such as {_REPLY_EXAMPLE}")
        return reply_from_data(reply)
    if given == ["response"]:
        return await _reply_in_response(as_mapping(row.data["response"], "`response`"), question)
    raise DamagedData(f"a row needs {_FORMS}, and one of them alone")


async def _reply_in_response(response: Mapping[str, Json], question: Question) -> Reply:
    """The reply in the answer of a provider, as its backend reads it."""
    status = response.get("status_code", 200)
    if not isinstance(status, int) or isinstance(status, bool):
        raise DamagedData("`status_code` must be an integer")
    body = response.get("body")
    inner = innermost(question.source.backend) if question.source.backend else None
    if inner is None or (backend := offline_backend(inner)) is None:
        raise DamagedData(f"`response` of {question.source.id} cannot be read; write a `reply`")
    encoded = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    try:
        reply = await backend.offline_reply(question.request, status, encoded)
    except (CaseRefused, ModelUnavailable, Unanswered) as error:
        raise NoReply(str(error)) from None
    seconds = optional_field(response, "seconds", float)
    return reply if seconds is None else replace(reply, seconds=seconds)


def _error_text(error: Json) -> str:
    """The text of an error in one line of limited length."""
    message = error.get("message", error) if isinstance(error, Mapping) else error
    text = message if isinstance(message, str) else json.dumps(message)
    return " ".join(text.split())[:300] or "nothing is said of it"
