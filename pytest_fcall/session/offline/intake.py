"""Replies from elsewhere on their way into the store: rows of files, each checked against the request that it names."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.backends.recordings.entry import reply_from_data
from pytest_fcall.backends.wrapper import innermost
from pytest_fcall.core.backend import CaseRefused, ModelUnavailable, Unanswered, offline_backend
from pytest_fcall.core.json_data import DamagedData, as_mapping, optional_field, read_own_json
from pytest_fcall.core.parquet import SUFFIX, read_parquet
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.storage import folder_and_name, is_address, open_address, title_of
from pytest_fcall.core.values import Json
from pytest_fcall.session.ask.open_requests import OpenRequest, OpenRequests
from pytest_fcall.session.ask.recordings import SessionRecordings
from pytest_fcall.session.ask.types import Question
from pytest_fcall.session.settings import Settings
from pytest_fcall.suites.json_files import decompress_stream, open_lines, read_lines

_PORTION: Final = 256
"""Replies that are written together."""
_SHOWN: Final = 60
"""Characters of a digest that a message shows; a right one is longer."""
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


class RefusedRow(NamedTuple):
    """A row that is not taken."""

    place: str
    reason: str


class Intake:
    """Takes replies to the open requests of a run. What is taken is in the store, whatever comes after it."""

    def __init__(self, requests: OpenRequests, settings: Settings) -> None:
        self._requests = requests
        self._recordings = SessionRecordings(settings)
        self._taken: dict[str, str] = {}
        self.known = 0
        """Rows with a reply that was recorded before."""
        self.failed: list[RefusedRow] = []
        """Rows that say that there is no reply."""
        self.refused: list[RefusedRow] = []
        """Rows that cannot be read, or answer no open request."""

    @property
    def taken(self) -> int:
        """The number of replies that were taken."""
        return len(self._taken)

    def missing(self) -> Iterator[OpenRequest]:
        """The requests that are open still."""
        return (each for each in self._requests if each.first.digest not in self._taken)

    def take(self, rows: Iterable[ReplyRow]) -> None:
        """Take the replies in these rows. Raises StoreError where they cannot be recorded."""
        self._recordings.check()
        portion: list[tuple[OpenRequest, Reply]] = []
        with asyncio.Runner() as runner:
            for row in rows:
                if (found := self._request_of(row)) is None:
                    continue
                try:
                    portion.append((found, runner.run(reply_in(row, found.first))))
                except NoReply as why:
                    self.failed.append(RefusedRow(row.place, str(why)))
                except DamagedData as why:
                    self.refused.append(RefusedRow(row.place, str(why)))
                else:
                    self._taken[found.first.digest] = row.place
                if len(portion) == _PORTION:
                    self._record(portion)
                    portion = []
        self._record(portion)

    def put_all(self, answered: Sequence[tuple[OpenRequest, Reply]]) -> None:
        """Take replies, which are in the store afterwards. Raises StoreError."""
        self._taken.update({request.first.digest: "" for request, _ in answered})
        self._record(answered)
        self._recordings.check()

    def is_recorded(self, digest: str) -> bool:
        """Whether there is a reply to the request with this digest."""
        return digest in self._taken or self._recordings.has_reply(digest)

    def close(self) -> list[str]:
        """Write what is still to be written; sentences on what went wrong."""
        with closing(self._recordings):
            return self._recordings.notes()

    def _request_of(self, row: ReplyRow) -> OpenRequest | None:
        """The open request that a row answers; None where there is none, which is noted."""
        if "catalogue" in row.data and "digest" not in row.data:  # a plan to which replies were added
            return None
        try:
            digest = row.digest
            found = self._requests.get(digest)
            if found is None and self._recordings.has_reply(digest):
                self.known += 1
                return None
            _check_named(row, digest, found)
        except DamagedData as why:
            self.refused.append(RefusedRow(row.place, str(why)))
            return None
        if before := self._taken.get(digest):
            reason = f"it answers the same request as {before}, whose reply stands"
            self.refused.append(RefusedRow(row.place, reason))
            return None
        return found

    def _record(self, portion: Iterable[tuple[OpenRequest, Reply]]) -> None:
        answered = [*portion]
        self._recordings.record((request.first, reply) for request, reply in answered)
        for request, _ in answered:
            for other in request.questions[1:]:
                self._recordings.mark_used(other)


def _check_named(row: ReplyRow, digest: str, request: OpenRequest | None) -> None:
    """Raise DamagedData where no request has the digest, or a row names another model or sample than its digest."""
    if request is None:
        raise DamagedData(f"no request of these cases has the digest {digest[:_SHOWN]!r}")
    question = request.first
    for name, right in (("model", question.source.id), ("sample", question.request.sample)):
        if name in row.data and row.data[name] != right:
            raise DamagedData(f"`{name}` is {row.data[name]!r:.60}, but the request with this digest is of {right!r}")
