"""Replies from elsewhere on their way into the store: each is checked against the request that it claims to answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import Final, NamedTuple

from pytest_fcall.core.json_data import DamagedData
from pytest_fcall.core.reply import Reply
from pytest_fcall.session.ask.open_requests import OpenRequest, OpenRequests
from pytest_fcall.session.ask.recordings import SessionRecordings
from pytest_fcall.session.offline.reply_rows import NoReply, ReplyRow, reply_in
from pytest_fcall.session.settings import Settings

_PORTION: Final = 256
"""Replies that are written together."""
_SHOWN: Final = 60
"""Characters of a digest that a message shows; a right one is longer."""


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
