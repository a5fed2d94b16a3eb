"""The way of portions from files to results, so that each is submitted once whenever the process dies.

What a request may change at the server is noted before it is sent. A process that finds such a note asks the server
what it has of it, and only asks again for what it has not.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from pytest_fcall.backends.batch.client import (
    Gone,
    ServerError,
    ServerNotReached,
    ServerRefused,
    ServerThrottled,
    Unclear,
)
from pytest_fcall.backends.batch.portion import Portion, PortionFolder
from pytest_fcall.backends.batch.results import Keep, PortionResults, ids_in, take_results
from pytest_fcall.backends.batch.service import BatchService
from pytest_fcall.backends.http_answers import LONGEST_BODY
from pytest_fcall.core.json_data import DamagedData

SETTLE_SECONDS: Final = 60.0
"""Seconds after a submission of which nothing came back; before that, a batch may be missing in the server's list."""
_LONGEST_RESULTS: Final = 2**33


class BatchProgress:
    """Takes portions further at one server."""

    def __init__(
        self,
        folder: PortionFolder,
        service: BatchService,
        of_others: Collection[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._service = service
        self._of_others = of_others
        """Batches of other portions."""
        self._clock = clock
        self.words = ""
        """The progress of the batch, in the provider's words."""
        self.wait: float | None = None
        """The seconds before which it makes no sense to go on, where that is known."""

    async def advance(self, portion: Portion) -> Portion:
        """Take a portion as far as it goes now: its results are here, or the server is at work.

        Raises ServerError, and OSError where the state cannot be written.
        """
        with self._understanding():
            return await self._advance(portion)

    @contextmanager
    def _understanding(self) -> Iterator[None]:
        """Raise Unclear for an answer that has not the form of the interface."""
        try:
            yield
        except DamagedData as error:
            raise Unclear(self._service.client.message("the server's answer is not understood", str(error))) from None

    async def _advance(self, portion: Portion) -> Portion:
        while True:
            before = portion
            match portion.stage:
                case "planned":
                    portion = await self._send(portion)
                case "uploading":
                    portion = await self._upload_unless_done(portion)
                case "uploaded":
                    portion = await self._submit(portion)
                case "submitting":
                    portion = await self._submit_unless_done(portion)
                case "submitted":
                    portion = await self._look(portion)
                case _:
                    return portion
            if portion == before:
                return portion

    async def cancel(self, portion: Portion) -> bool:
        """Have a portion be answered no further. False where it is not certain which batch of the server it is.

        Raises ServerError, and OSError where the state cannot be written.
        """
        with self._understanding():
            return await self._cancel(portion)

    async def _cancel(self, portion: Portion) -> bool:
        if portion.stage in ("planned", "uploading", "uploaded"):
            self._folder.forget(portion)
            return True
        if portion.stage == "submitting":
            portion = await self._adopted(portion) or portion
            if portion.stage == "submitting" and self._unsettled(portion) <= 0:
                self._folder.forget(portion)
                return True
        if portion.stage == "submitting" or not portion.is_proven:
            return False
        if portion.stage == "submitted":
            await self._service.cancel(portion.batch)
        return True

    async def _send(self, portion: Portion) -> Portion:
        if self._service.takes_files:
            return await self._upload(self._folder.save(replace(portion, stage="uploading")))
        return await self._submit(portion)

    async def _upload_unless_done(self, portion: Portion) -> Portion:
        try:
            found = await self._service.find_upload(portion)
        except Gone:  # a server that lists no files; a second file costs nothing
            found = None
        return await self._upload(portion) if found is None else self._uploaded(portion, found)

    async def _upload(self, portion: Portion) -> Portion:
        file_id = await self._service.upload(portion, self._folder.requests_file(portion.name))
        return self._uploaded(portion, file_id)

    def _uploaded(self, portion: Portion, file_id: str) -> Portion:
        return self._folder.save(replace(portion, stage="uploaded", file_id=file_id))

    async def _submit(self, portion: Portion) -> Portion:
        """Submit a portion of which the server has no batch."""
        before = portion
        mark = portion.mark or await self._service.mark()
        portion = self._folder.save(replace(portion, stage="submitting", since=self._clock(), mark=mark))
        try:
            batch = await self._service.submit(portion, self._folder.requests_file(portion.name))
        except (ServerThrottled, ServerNotReached):
            self._folder.save(before)
            raise
        except ServerRefused:  # perhaps for what became of the file, so that it is uploaded anew
            self._folder.save(replace(before, stage="planned", file_id=""))
            raise
        return self._folder.save(replace(portion, stage="submitted", batch=batch, is_proven=True))

    async def _submit_unless_done(self, portion: Portion) -> Portion:
        """Adopt the batch that an earlier attempt has made; submit the portion if there is none."""
        if adopted := await self._adopted(portion):
            return adopted
        if (wait := self._unsettled(portion)) > 0:
            self.words = "it is not known yet whether the server has it"
            self.wait = wait
            return portion
        return await self._submit(replace(portion, stage="uploaded" if self._service.takes_files else "planned"))

    async def _adopted(self, portion: Portion) -> Portion | None:
        """The portion with a batch that may be its own, if the server has one."""
        known = {*portion.not_ours, *self._of_others}
        found = [batch for batch in await self._service.find_batches(portion) if batch not in known]
        if not found:
            return None
        # Of batches without names, one after the other is taken for ours until the results tell.
        is_proven = self._service.names_batches
        return self._folder.save(replace(portion, stage="submitted", batch=found[0], is_proven=is_proven))

    def _unsettled(self, portion: Portion) -> float:
        """The seconds for which the server may have a batch that it does not list. Other machines have other clocks."""
        seconds = portion.since + SETTLE_SECONDS - self._clock()
        return seconds if seconds <= SETTLE_SECONDS else 0.0

    async def _look(self, portion: Portion) -> Portion:
        """Look at the batch, and fetch its results at its end."""
        try:
            state = await self._service.state(portion.batch)
        except Gone as error:  # it may be there for another key
            if not portion.is_proven:
                return self._disowned(portion)
            file = self._folder.state_file(portion.name)
            raise ServerRefused(
                f"{error}; if the batch was deleted, remove {file}, and its requests are open again"
            ) from None
        self.words = state.words
        if state.outcome is None:
            return portion
        portion = replace(portion, faults={str(number): text for number, text in state.faults.items()})
        if not state.sources:
            return self._ended(portion, state.outcome) if portion.is_proven else self._disowned(portion)
        target = self._folder.results_file(portion.name)
        longest = min(_LONGEST_RESULTS, (len(portion.digests) + 1) * LONGEST_BODY)
        try:
            gone = await self._service.client.download("fetch results", state.sources, target, longest)
        except Gone:
            return self._ended(portion, "gone")
        if not ids_in(target, self._service, portion.digests):
            target.unlink()
            if portion.is_proven:  # perhaps of something between us and the server, which has the results still
                raise Unclear(self._service.client.message("fetch results", "no line is of a request of this batch"))
            return self._disowned(portion)
        return self._ended(portion, "gone" if gone else state.outcome)

    def _disowned(self, portion: Portion) -> Portion:
        """The portion without a batch that only might have been its own, and whose results do not say so."""
        not_ours = (*portion.not_ours, portion.batch)
        return self._folder.save(replace(portion, stage="submitting", batch="", not_ours=not_ours, faults={}))

    def _ended(self, portion: Portion, outcome: str) -> Portion:
        return self._folder.save(replace(portion, stage="ended", outcome=outcome))


ServiceOf: TypeAlias = Callable[[Portion], Awaitable[BatchService]]
"""Gives the batches of the server that has a portion. Raises NotHere."""


class NotHere(Exception):
    """A portion that cannot be taken further by this command. The text says why."""


@dataclass(slots=True)
class Visit:
    """The states of all portions, as one look at the servers found them."""

    under_way: list[tuple[Portion, str]] = field(default_factory=list)
    """Portions that wait for the provider, with its words."""
    left: list[tuple[Portion, str]] = field(default_factory=list)
    """Portions that could not be looked at or submitted, with the reasons."""
    taken: list[tuple[Portion, PortionResults]] = field(default_factory=list)
    """Portions that have ended, with their results."""
    wait: float | None = None
    """The longest wait that a server asked for."""

    def note_wait(self, seconds: float | None) -> None:
        """Note that a server wants to be asked after so many seconds."""
        if seconds is not None:
            self.wait = max(seconds, self.wait or 0.0)


class BatchWork:
    """Works with the portions in a folder, of which this process is the only one that does."""

    def __init__(
        self,
        folder: PortionFolder,
        service_of: ServiceOf,
        keep: Keep,
        write: Callable[[], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._service_of = service_of
        self._keep = keep
        self._write = write
        """Has all that was kept be on disk."""
        self._clock = clock

    async def visit(self, portions: Sequence[Portion], known: Sequence[Portion]) -> Visit:
        """Take each portion as far as it goes now, and keep the answers of those that have ended.

        No batch of other portions that are known is taken for theirs.

        Raises OSError where the state cannot be written, and what `keep` and `write` raise.
        """
        visit = Visit()
        for portion in portions:
            if not portion.is_under_way:
                continue
            of_others = {other.batch for other in known if other.name != portion.name}
            try:
                await self._visit(portion, of_others, visit)
            except NotHere as error:
                visit.left.append((portion, str(error)))
            except ServerThrottled as error:
                visit.note_wait(error.wait)
                visit.under_way.append((portion, str(error)))
            except ServerError as error:
                visit.left.append((portion, str(error)))
        return visit

    async def _visit(self, portion: Portion, of_others: set[str], visit: Visit) -> None:
        service = await self._service_of(portion)
        progress = BatchProgress(self._folder, service, of_others, self._clock)
        portion = await progress.advance(portion)
        visit.note_wait(progress.wait)
        if portion.stage != "ended":
            visit.under_way.append((portion, progress.words))
            return
        path = self._folder.results_file(portion.name)
        results = await take_results(portion, service, path, self._keep)
        self._write()
        taken = self._folder.finish(portion, results.answered, results.unasked)
        visit.taken.append((taken, results))
