"""Runs that are kept: `fcall compare`, `history`, `accept` and `merge` read them."""

from __future__ import annotations

import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.reporting.result_json import results_to_json
from pytest_fcall.session.outcomes import SettingError
from pytest_fcall.tracking.revision import revision_of
from pytest_fcall.tracking.run_file import RunFile, remove_old_runs, run_id, runs_folder, write_run

if TYPE_CHECKING:
    from pytest_fcall.reporting.results import Results
    from pytest_fcall.session.result.exit_status import RunFailures
    from pytest_fcall.session.result.gates import Gates
    from pytest_fcall.session.settings import Settings

DEFAULT_RUNS = "100"


def store_run(
    settings: Settings,
    gates: Gates | None,
    started: float,
    results: Results,
    failures: RunFailures,
    *,
    broken_off: bool,
) -> Path | None:
    """Write the run's file and remove the oldest ones; None where no runs are kept. Raises OSError.

    The run of a shard is always kept: `fcall merge` needs it.
    """
    keep, shard = settings.kept_runs, settings.shard
    if keep == 0 and shard is None:
        return None
    moment = datetime.fromtimestamp(started, UTC)
    place = (shard.number, shard.of) if shard else None
    run = RunFile(
        id=run_id(started, place),
        started=moment.isoformat(timespec="seconds"),
        results=results_to_json(results),
        models=tuple(named.model.id for named in settings.models),
        gates=tuple(gate.text for gate in gates.gates) if gates else (),
        fail=gates.fail if gates else "items",
        failed=asdict(failures),
        broken_off=broken_off,
        shard=place,
        provenance={
            "pytest_fcall": version("pytest-fcall"),
            "python": platform.python_version(),
            **revision_of(settings.root),
        },
    )
    path = runs_folder(settings.root) / f"{run.id}.json"
    write_run(path, run)
    remove_old_runs(settings.root, max(keep, 1))
    return path


def parse_kept_runs(text: str) -> int:
    """The number of runs to keep. Raises SettingError."""
    if not text.isdecimal() or len(text) > 6:
        raise SettingError(f"fc_runs: {text!r} must be a number of runs to keep")
    return int(text)
