"""How fast this process may ask, of what all processes of the run may."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fcall.plugin.options import options

if TYPE_CHECKING:
    from pytest_fcall.backends.dispatch.job import Limits


def limits(config: pytest.Config) -> Limits:
    """The limits of this process; what is counted by the minute is counted in a file that all workers share."""
    from pytest_fcall.backends.dispatch.job import Limits

    chosen = options(config)
    return Limits(
        concurrency=share_of_concurrency(config),
        rpm=chosen.requests_per_minute,
        tpm=chosen.tokens_per_minute,
        shared=shared_file(config),
    )


def share_of_concurrency(config: pytest.Config) -> int:
    """How many requests this process may have in flight; each worker may have one."""
    worker: Mapping[str, Any] = getattr(config, "workerinput", {"workerid": "gw0", "workercount": 1})
    workers: int = worker["workercount"]
    share, rest = divmod(options(config).concurrency, workers)
    number: str = worker["workerid"].removeprefix("gw")
    return max(1, share + (number.isdecimal() and int(number) < rest))


def shared_file(config: pytest.Config) -> Path | None:
    """Where the workers of a run count together; None where there is one process."""
    run: str | None = getattr(config, "workerinput", {}).get("testrunuid")
    return file_of_run(config, run) if run else None


def file_of_run(config: pytest.Config, run: str) -> Path:
    """Where the workers of this run count."""
    return config.rootpath / ".fcall" / f"limits-{run}.db"
