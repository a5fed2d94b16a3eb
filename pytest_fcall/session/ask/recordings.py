"""The replies that are kept: those of earlier runs to use again, and those of this run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.core import Reply, Request
from pytest_fcall.plugin.options import Options

if TYPE_CHECKING:
    from pytest_fcall.backends.recordings.entry import Recording, Recordings
    from pytest_fcall.backends.store import ReplyStore
    from pytest_fcall.session.ask.source import Question


_BUFFER_SECONDS = 0.2
"""Seconds within which replies of an app that answers at once are kept together."""


class SessionRecordings:
    """Two places: the files beside the cases, for version control, and the local store that every reply goes to."""

    def __init__(self, root: Path, options: Options) -> None:
        self._root = root
        self._options = options
        self._files: dict[tuple[str, Path], Recordings] = {}
        self._names: dict[Path, str] = {}
        self._absent: set[str] = set()
        self._soon: list[tuple[Question, Reply]] = []
        """What is not kept yet."""
        self._kept_last = 0.0
        self.started = time.time()
        """Replies recorded since then are of this run."""

    def find(self, question: Question, *, live: bool, request: Request | None = None) -> Recording | None:
        """The newest reply that is kept; where the model may be asked, only one that the options let count.

        `request` is what the question's digest names, where that is at hand.
        """
        since = self.since if live else -inf
        digest = question.digest
        stored = None if digest in self._absent else self.store.find(digest, since, request)
        entries = [self._recordings(question).find(digest), stored]
        counting = [entry for entry in entries if entry and entry.timestamp >= since]
        return max(counting, key=lambda entry: entry.timestamp, default=None)

    def used(self, question: Question) -> None:
        """Note that a kept reply answered this test, so that it is exported with it, too."""
        if self._options.record != "off":
            self.store.note_use(question.model.id, self.name(question), question.asker.case, question.digest)

    def look_up(self, digests: Sequence[str]) -> None:
        """Find out at once which of these the store has no reply to; it is not searched for them until next time."""
        self._absent = {*digests} - self.store.load(digests)

    @cached_property
    def since(self) -> float:
        """When a reply must have been recorded to stand for a new one where one may be asked for."""
        record, max_age = self._options.record, self._options.max_age
        if record == "missing":
            return -inf if max_age is None else self.started - max_age
        return self.started if record == "all" else inf

    def nearest(self, question: Question) -> Recording | None:
        """What was kept for a case when it asked something else."""
        case, sample = question.asker.case, question.request.sample
        found = self._recordings(question).nearest(case, sample)
        return found or self.store.nearest(question.model.id, self.name(question), case, sample)

    def has_any(self, question: Question) -> bool:
        """Whether anything of its model is kept for its file; see `files_of`."""
        return self.name(question) in self.files_of(question.model.id) or bool(self._recordings(question).entries)

    def files_of(self, model: str) -> Sequence[str]:
        """The files for which the store had anything of a model when that was first asked, in this run."""
        return self._stored.get(model, ())

    @cached_property
    def _stored(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for model, file in self.store.files():
            found.setdefault(model, []).append(file)
        return found

    def of_case(self, question: Question) -> list[Recording]:
        """All that is kept for a case, whatever it asked."""
        case = question.asker.case
        stored = (each.entry for each in self.store.replies(question.model.id, self.name(question)))
        return [entry for entry in (*self._recordings(question).entries, *stored) if entry.case == case]

    def damage(self, question: Question) -> list[str]:
        """What could not be read of the recordings beside a test, and of the store."""
        return [fault.message for fault in (*self._recordings(question).faults, *self.store.faults)]

    def notes(self) -> list[str]:
        """What was found damaged in the store, or could not be read; it may be the last writing that finds it."""
        from pytest_fcall.backends.store import StoreError

        told = []
        try:
            self._keep_now()
        except StoreError as error:
            told = [str(error)]
        if "store" in self.__dict__:
            self.store.flush()
            told += [fault.message for fault in self.store.faults]
        return told

    def keep(self, replies: Iterable[tuple[Question, Reply]]) -> None:
        """Keep replies at once: they were paid for. StoreError where that cannot be done, for all of them."""
        if self._options.record == "off":
            return
        from pytest_fcall.backends.recordings.entry import Recording
        from pytest_fcall.backends.store import NewReply

        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.store.put_all(
            NewReply(of.model.id, self.name(of), Recording(of.asker.case, of.digest, of.request, reply, now))
            for of, reply in replies
        )

    def keep_answers(self, replies: Iterable[tuple[Question, Reply]]) -> None:
        """Keep what models and apps have answered; what apps make of recordings is nothing new, and only noted."""
        if not self._options.replay:
            self.keep(replies)
            return
        for question, _ in replies:
            self.used(question)

    def keep_soon(self, question: Question, reply: Reply) -> None:
        """Keep what an app has answered; at once if it took any time, since to write each by itself would take longer.

        StoreError where that cannot be done.
        """
        self._soon.append((question, reply))
        if time.monotonic() - self._kept_last > _BUFFER_SECONDS:
            self._keep_now()

    def _keep_now(self) -> None:
        soon, self._soon = self._soon, []
        if soon:
            self.keep_answers(soon)
            self._kept_last = time.monotonic()

    def close(self) -> None:
        """Keep what is not kept yet, and let go of the store's file. What cannot be kept, `notes` has told."""
        if self._soon:
            from pytest_fcall.backends.store import StoreError

            with suppress(StoreError):
                self._keep_now()
        if "store" in self.__dict__:
            self.store.close()

    @cached_property
    def store(self) -> ReplyStore:
        """The local store; its file is made with the first reply."""
        from pytest_fcall.backends.store import ReplyStore, store_path

        return ReplyStore(store_path(self._root))

    def _recordings(self, question: Question) -> Recordings:
        from pytest_fcall.backends.recordings.file import read_recordings, recordings_path

        model, file = question.model, question.asker.file
        if (model.id, file) not in self._files:
            self._files[model.id, file] = read_recordings(recordings_path(file, model))
        return self._files[model.id, file]

    def name(self, question: Question) -> str:
        """The path of the file that asks, from the root and with slashes."""
        file = question.asker.file
        if file not in self._names:
            inside = file.is_relative_to(self._root)
            self._names[file] = (file.relative_to(self._root) if inside else file).as_posix()
        return self._names[file]
