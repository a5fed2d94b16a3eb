"""All portions of a project, taken further one after the other, and what came of them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pytest_fcall.backends.batch.client import ServerError, Throttled
from pytest_fcall.backends.batch.portion import Portion, PortionFolder
from pytest_fcall.backends.batch.progress import Progress
from pytest_fcall.backends.batch.results import Keep, Results, take_results
from pytest_fcall.backends.batch.service import BatchService

ServiceOf: TypeAlias = Callable[[Portion], Awaitable[BatchService]]
"""Gives the batches of the server that has a portion. Raises NotHere."""


class NotHere(Exception):
    """A portion that cannot be taken further by this command. The text says why."""


@dataclass(slots=True)
class Visit:
    """What was found of all portions at one time."""

    under_way: list[tuple[Portion, str]] = field(default_factory=list)
    """Portions that wait for the provider, with its words."""
    left: list[tuple[Portion, str]] = field(default_factory=list)
    """Portions that could not be looked at or submitted, and why."""
    taken: list[tuple[Portion, Results]] = field(default_factory=list)
    """Portions that have ended, and what came of them."""
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
            except Throttled as error:
                visit.note_wait(error.wait)
                visit.under_way.append((portion, str(error)))
            except ServerError as error:
                visit.left.append((portion, str(error)))
        return visit

    async def _visit(self, portion: Portion, of_others: set[str], visit: Visit) -> None:
        service = await self._service_of(portion)
        progress = Progress(self._folder, service, of_others, self._clock)
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
