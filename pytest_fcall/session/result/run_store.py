"""Keeping the run: what `fcall compare`, `history` and `merge` read."""

from __future__ import annotations

import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pytest

from pytest_fcall.plugin.models import named_models
from pytest_fcall.plugin.sharding import shard_of
from pytest_fcall.reporting.result_json import results_to_json
from pytest_fcall.reporting.results import Results
from pytest_fcall.session.result.gates import RunFailures, gates_of
from pytest_fcall.tracking.revision import revision_of
from pytest_fcall.tracking.run_file import RunFile, remove_old_runs, runs_folder, write_run

DEFAULT_RUNS = "100"


def store_run(
    config: pytest.Config, started: float, results: Results, ending: RunFailures, *, broken_off: bool
) -> Path | None:
    """Write the run's file and forget the oldest ones; None where none are kept. Raises OSError.

    A share is kept in any case: it is of no use but to be joined with others.
    """
    keep, shard = runs_to_keep(config), shard_of(config)
    if keep == 0 and shard is None:
        return None
    moment = datetime.fromtimestamp(started, UTC)
    gates = gates_of(config)
    within = moment.microsecond * 0x10000 // 1_000_000  # names of runs in the same second sort by time, too
    run = RunFile(
        id=f"{moment:%Y%m%d-%H%M%S}-{within:04x}" + (f"-{shard.number}of{shard.of}" if shard else ""),
        started=moment.isoformat(timespec="seconds"),
        results=results_to_json(results),
        models=tuple(named.model.id for named in named_models(config)),
        gates=tuple(gate.text for gate in gates.gates),
        fail=gates.fail,
        failed=asdict(ending),
        broken_off=broken_off,
        shard=(shard.number, shard.of) if shard else None,
        provenance={
            "pytest_fcall": version("pytest-fcall"),
            "python": platform.python_version(),
            **revision_of(config.rootpath),
        },
    )
    path = runs_folder(config.rootpath) / f"{run.id}.json"
    write_run(path, run)
    remove_old_runs(config.rootpath, max(keep, 1))
    return path


def runs_to_keep(config: pytest.Config) -> int:
    """How many runs are kept. Raises UsageError for what is no number."""
    text = str(config.getini("fc_runs") or DEFAULT_RUNS)
    if not text.isdecimal() or len(text) > 6:
        raise pytest.UsageError(f"fc_runs: {text!r} is no number of runs to keep")
    return int(text)
