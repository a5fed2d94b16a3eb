"""Recordings of a session: the files beside the cases, and the local store."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_fcall.core.case import Fault
from pytest_fcall.core.files import path_from_root, place_elsewhere
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.session.ask.pending_replies import PendingReplies

if TYPE_CHECKING:
    from pytest_fcall.backends.recordings.entry import Recording, Recordings
    from pytest_fcall.backends.store import NewReply, ReplyStore
    from pytest_fcall.session.ask.types import Question
    from pytest_fcall.session.settings import Settings

_LEAST_PAUSE: Final = 0.2
_MOST_PAUSE: Final = 2.0
"""Replies of an app that answers at once are written together, at intervals of so many seconds."""
_PAUSE_PER_WRITE: Final = 20
"""An interval is so many times as long as writing took last, so that a slow disk does not become the pace of a run."""


class SessionRecordings:
    """Finds recorded replies, and records those of this run.

    Files beside the cases are for version control; the store gets every reply.
    """

    def __init__(self, settings: Settings) -> None:
        self._root = settings.root
        self._secrets = settings.secrets
        self._replay = settings.replay
        self._record = settings.record
        self._max_age = settings.max_age
        self._result_max_age = settings.result_max_age
        self._undated: set[tuple[str, str]] = set()
        """Models and files that have recorded replies which do not count because nobody knows how old they are."""
        self._files: dict[tuple[str, Path], Recordings] = {}
        self._file_names: dict[Path, str] = {}
        self._exported: dict[Path, bool] = {}
        self._system_prompts: dict[tuple[str, str], Mapping[str, str]] = {}
        self._absent: set[str] = set()
        self._buffer: list[tuple[Question, Reply]] = []
        self._pending = PendingReplies(lambda: self.store)
        self._next_write = 0.0
        self._server = settings.store
        self._began = settings.started

    def find(self, question: Question, *, live: bool, request: Request | None = None) -> Recording | None:
        """The newest recorded reply; where the model may be asked (`live`), only one that the settings let count.

        `request` is the one that the question's digest names, where that is at hand.
        """
        return self._find(question, self.since if live else -inf, request)

    def find_result(self, question: Question, *, live: bool) -> Recording | None:
        """The newest recorded result of a tool; where the tool may be called (`live`), only one that counts."""
        return self._find(question, self._since(self._result_max_age) if live else -inf)

    def _find(self, question: Question, since: float, request: Request | None = None) -> Recording | None:
        if since == inf:
            return None
        digest = question.digest
        stored = None if digest in self._absent else self.store.find(digest, since, request)
        in_file = self._of_file(question).find(digest)
        # A reply that lacks a secret is judged otherwise than the true one: it stands for no answer.
        found = [self._with_known_date(entry) for entry in (in_file, stored) if entry and not entry.lacks_secret]
        counting = [entry for entry in found if entry.timestamp >= since]
        if found and not counting and -inf < since < self.started and not found[0].timestamp:
            self._undated.add((question.source.id, self.file_name(question)))
        return max(counting, key=lambda entry: entry.timestamp, default=None)

    def mark_used(self, question: Question) -> None:
        """Note that a recorded reply answered this test, so that it is exported with the test."""
        if self._record != "off":
            self.store.note_use(question.source.id, self.file_name(question), question.asker.case, question.digest)

    def has_reply(self, digest: str) -> bool:
        """Whether the store has a reply to the request with this digest, of any test."""
        return bool(self.store.load([digest]))

    def look_up(self, digests: Sequence[str]) -> None:
        """Find out in one query which of these the store has no reply to, so that `find` need not search for them."""
        self._absent = {*digests} - self.store.load(digests)

    @cached_property
    def started(self) -> float:
        """Replies recorded since then are of this run, by the clock of the store."""
        return self._began + self._clock_lead

    @cached_property
    def _clock_lead(self) -> float:
        """The seconds by which the clock of the store is ahead of that of this host: those of hosts may differ."""
        return self.store.now() - time.time() if self._server else 0.0

    def on_this_host(self, moment: float) -> float:
        """The time of this host at which something was recorded; 0 stays 0, as nobody knows when that was."""
        return moment - self._clock_lead if moment else moment

    @cached_property
    def since(self) -> float:
        """The moment from which on a recorded reply counts where the model may be asked."""
        return self._since(self._max_age)

    def _since(self, max_age: int | None) -> float:
        if self._record == "missing":
            return -inf if max_age is None else self.started - max_age
        return self.started if self._record == "all" else inf

    def nearest(self, question: Question) -> Recording | None:
        """The reply that is recorded for the case of the question when it sent another request."""
        case, sample = question.asker.case, question.request.sample
        found = self._of_file(question).nearest(case, sample)
        return found or self.store.nearest(question.source.id, self.file_name(question), case, sample)

    def has_any(self, question: Question) -> bool:
        """Whether anything of its model is recorded for its file; see `files_of`."""
        return self.file_name(question) in self.files_of(question.source.id) or bool(self._of_file(question).entries)

    def files_of(self, model: str) -> Sequence[str]:
        """The files for which the store had replies of a model when this was first asked."""
        return self._stored_files.get(model, ())

    @cached_property
    def _stored_files(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for model, file in self.store.files():
            found.setdefault(model, []).append(file)
        return found

    def of_case(self, question: Question) -> list[Recording]:
        """Everything that is recorded for the case of the question, whatever it asked."""
        case = question.asker.case
        stored = (each.entry for each in self.store.replies(question.source.id, self.file_name(question)))
        return [entry for entry in (*self._of_file(question).entries, *stored) if entry.case == case]

    def system_prompts(self, question: Question) -> Mapping[str, str]:
        """The system prompts that are recorded for the model and the file of the question, by their digests."""
        from pytest_fcall.tracking.question_digests import SYSTEM, question_digests, system_prompt

        key = question.source.id, self.file_name(question)
        if key not in self._system_prompts:
            stored = (each.entry for each in self.store.replies(*key))
            requests = (entry.request for entry in (*self._of_file(question).entries, *stored))
            prompts = {prompt: each for each in requests if (prompt := system_prompt(each))}
            self._system_prompts[key] = {question_digests(each)[SYSTEM]: prompt for prompt, each in prompts.items()}
        return self._system_prompts[key]

    def is_exported(self, question: Question) -> bool:
        """Whether recordings of any model, or of what an app asks, are kept beside the file of the question."""
        file = question.asker.file
        if file not in self._exported:
            from glob import escape

            self._exported[file] = any(file.parent.glob(f"__fcall__/*/{escape(file.name)}.replies.jsonl"))
        return self._exported[file]

    def damage(self, question: Question) -> list[str]:
        """Faults in the recordings beside the test of the question, and in the store."""
        return [fault.message for fault in (*self._of_file(question).faults, *self.store.faults)]

    def notes(self) -> list[str]:
        """Faults of files and of the store, and replies without a date.

        Writes what is still to be written, which may find some.
        """
        found: list[str] = []
        self._write_buffer()
        if "store" in self.__dict__:
            self.store.flush()
            found += [fault.message for fault in self.store.faults]
        found += self._pending.notes()
        if place := place_elsewhere(self._root):
            found.append(f".fcall is a link: what is kept is in {place}")
        undated = "recorded replies of {} do not say when they were recorded, and were asked for again"
        found += [f"{file}: {undated.format(model)}" for model, file in sorted(self._undated)]
        return [*found, *(self._file_note(each.faults) for each in self._files.values() if each.faults)]

    def _file_note(self, faults: Sequence[Fault]) -> str:
        """A line on what is wrong with a file of recordings: its first fault."""
        first = faults[0]
        shown = path_from_root(Path(first.location.path), self._root)
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        return f"{shown}:{first.location.line}: {first.message}{more}. {first.hint}"

    def check(self) -> None:
        """Raise StoreError if replies cannot be recorded: what is asked for now would be paid for in vain."""
        if self._record != "off":
            self._pending.check()

    @property
    def takes_replies(self) -> bool:
        """Whether every reply so far that was to be recorded is in the store."""
        return self._record != "off" and not self._replay and self._pending.fault is None

    def record(self, replies: Iterable[tuple[Question, Reply]]) -> None:
        """Record replies at once, or keep them until they can be recorded."""
        from datetime import UTC, datetime

        from pytest_fcall.backends.recordings.entry import Recording
        from pytest_fcall.backends.store import NewReply

        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.keep(
            NewReply(of.source.id, self.file_name(of), Recording(of.asker.case, of.digest, of.request, reply, now))
            for of, reply in replies
        )

    def keep(self, replies: Iterable[NewReply]) -> None:
        """Record replies at once, as `record` does."""
        if self._record != "off":
            self._pending.put([self._by_clock_of_store(reply) for reply in replies])

    def record_answers(self, replies: Iterable[tuple[Question, Reply]]) -> None:
        """Record the replies of models and apps. An app that ran on recordings alone has said nothing new."""
        new = []
        for question, reply in replies:
            if question.source.named.live and not self._replay:
                new.append((question, reply))
            else:
                self.mark_used(question)
        if new:
            self.record(new)

    def record_soon(self, question: Question, reply: Reply) -> None:
        """Record the reply of an app in this process; those of an instant app are written together."""
        self._buffer.append((question, reply))
        if time.monotonic() >= self._next_write:
            self._write_buffer()

    def _write_buffer(self) -> None:
        replies, self._buffer = self._buffer, []
        if replies:
            began = time.monotonic()
            self.record_answers(replies)
            ended = time.monotonic()
            self._next_write = ended + min(max((ended - began) * _PAUSE_PER_WRITE, _LEAST_PAUSE), _MOST_PAUSE)

    def close(self) -> None:
        """Write what is still to be written, and let go of the store's file. `notes` has named faults already."""
        self._write_buffer()
        self._pending.close()
        if "store" in self.__dict__:
            self.store.close()

    @cached_property
    def store(self) -> ReplyStore:
        """The store, on a server or in a file, which is made with the first reply."""
        from pytest_fcall.backends.store import ReplyStore, store_path

        return ReplyStore(self._server or store_path(self._root), self._secrets)

    def _with_known_date(self, entry: Recording) -> Recording:
        """The recording, without a date that lies in the future: nobody knows how old it is."""
        return entry if entry.timestamp <= time.time() + max(self._clock_lead, 0.0) else entry._replace(recorded="")

    def _by_clock_of_store(self, reply: NewReply) -> NewReply:
        """The reply, which was dated by the clock of this host, with the date that it has for all hosts."""
        if not self._clock_lead:
            return reply
        from datetime import datetime, timedelta

        moment = datetime.fromisoformat(reply.entry.recorded) + timedelta(seconds=self._clock_lead)
        return reply._replace(entry=reply.entry._replace(recorded=moment.isoformat(timespec="milliseconds")))

    def _of_file(self, question: Question) -> Recordings:
        key = question.source.id, question.asker.file
        if key not in self._files:
            from pytest_fcall.backends.recordings.file import read_recordings, recordings_path

            self._files[key] = read_recordings(recordings_path(question.asker.file, question.model))
        return self._files[key]

    def file_name(self, question: Question) -> str:
        """The path of the test's file, from the root and with slashes."""
        file = question.asker.file
        if file not in self._file_names:
            self._file_names[file] = path_from_root(file, self._root)
        return self._file_names[file]


class RecordedAppRequests(NamedTuple):
    """The requests of an app that are recorded for one case."""

    recordings: SessionRecordings
    question: Question
    """The question of the case, put to the models of the app."""
    live: bool

    def find(self, digest: str) -> Recording | None:
        """The recorded reply that answers the request; it is marked as used.

        Where models may be asked, a failure does not count: its cause may be mended.
        """
        from http import HTTPStatus

        question = self.question._replace(digest=digest)
        found = self.recordings.find(question, live=self.live)
        if found is None or (self.live and found.http_answer and found.http_answer.status >= HTTPStatus.BAD_REQUEST):
            return None
        self.recordings.mark_used(question)
        return found

    def all(self) -> Sequence[Recording]:
        """All recordings of the case."""
        return self.recordings.of_case(self.question)

    def check(self) -> None:
        """Raise StoreError if an answer could not be recorded."""
        self.recordings.check()
