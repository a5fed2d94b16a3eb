"""Limits on requests: the share of this process in those of the run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.core.private_files import NAME

if TYPE_CHECKING:
    from pytest_fcall.backends.dispatch.job import Limits
    from pytest_fcall.session.settings import Settings


def request_limits(settings: Settings) -> Limits:
    """The limits of this process; requests and tokens per minute are counted in a file that all workers share."""
    from pytest_fcall.backends.dispatch.job import Limits

    return Limits(
        concurrency=share_of_concurrency(settings),
        rpm=settings.requests_per_minute,
        tpm=settings.tokens_per_minute,
        shared=shared_file(settings),
    )


def share_of_concurrency(settings: Settings) -> int:
    """The number of requests that this process may have in flight; at least one for each worker."""
    if settings.worker is None:
        return settings.concurrency
    share, rest = divmod(settings.concurrency, settings.worker.count)
    number = settings.worker.id.removeprefix("gw")
    return max(1, share + (number.isdecimal() and int(number) < rest))


def shared_file(settings: Settings) -> Path | None:
    """The file in which the workers of a run count together; None where there is one process."""
    return file_of_run(settings.root, settings.worker.run) if settings.worker else None


def file_of_run(root: Path, run: str) -> Path:
    """The file in which the workers of this run count."""
    return root / NAME / f"limits-{run}.db"
