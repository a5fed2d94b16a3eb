"""Limits on requests: the share of this process in those of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fcall.core.files import PRIVATE_FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_fcall.backends.dispatch.job import Limits
    from pytest_fcall.backends.processes.ledger import Ledger
    from pytest_fcall.session.ask.recordings import SessionRecordings
    from pytest_fcall.session.settings import Settings


def request_limits(settings: Settings, recordings: SessionRecordings) -> Limits:
    """The limits of this process; requests and tokens per minute are counted in a ledger that all workers share."""
    from pytest_fcall.backends.dispatch.job import Limits

    return Limits(
        concurrency=share_of_concurrency(settings),
        rpm=settings.requests_per_minute,
        tpm=settings.tokens_per_minute,
        shared=shared_ledger(settings, recordings),
    )


def share_of_concurrency(settings: Settings) -> int:
    """The number of requests that this process may have in flight; at least one for each worker."""
    if settings.worker is None:
        return settings.concurrency
    share, rest = divmod(settings.concurrency, settings.worker.count)
    number = settings.worker.id.removeprefix("gw")
    return max(1, share + (number.isdecimal() and int(number) < rest))


def shared_ledger(settings: Settings, recordings: SessionRecordings) -> Ledger | None:
    """What this process counts in together with others: workers, and hosts that share a store; None where it is alone.

    On a server, all runs of a project share it.
    """
    worker = settings.worker
    if worker is None and settings.store is None:
        return None
    return recordings.store.ledger(worker.run if worker else "")


def forget_ledger(root: Path, run: str) -> None:
    """Delete the file in which the workers of this run counted, if there is one."""
    from pytest_fcall.backends.processes.ledger import ledger_path

    path = ledger_path(root / PRIVATE_FOLDER, run)
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink(missing_ok=True)
