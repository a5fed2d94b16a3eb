"""Runs that are kept: `fcall compare`, `history`, `accept` and `merge` read them."""

from __future__ import annotations

import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.reporting.result_json import results_to_json
from pytest_fcall.session.endings import SettingError
from pytest_fcall.tracking.revision import repository_of, revision_of
from pytest_fcall.tracking.run_accounts import AccountWriter, accounts_path, remove_old_accounts
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
    empty: bool,
) -> Path | None:
    """Write the run's file and remove the oldest ones; None where no runs are kept. Raises OSError."""
    if not settings.keeps_run:
        return None
    moment = datetime.fromtimestamp(started, UTC)
    path, place = _run_path(settings, started), _place(settings)
    revision = revision_of(settings.root)
    run = RunFile(
        id=run_id(started, place),
        started=moment.isoformat(timespec="seconds"),
        results=results_to_json(results),
        models=tuple(named.model.id for named in settings.models),
        gates=tuple(gate.text for gate in gates.gates) if gates else (),
        fail=gates.fail if gates else "items",
        failed=asdict(failures),
        broken_off=broken_off,
        empty=empty,
        shard=place,
        provenance={
            "pytest_fcall": version("pytest-fcall"),
            "python": platform.python_version(),
            **revision,
            **(repository_of(settings.root) if revision else {}),
            **({"history": [str(folder) for folder in settings.history]} if settings.history else {}),
        },
    )
    write_run(path, run)
    remove_old_runs(settings.root, max(settings.kept_runs, 1))
    remove_old_accounts(path.parent)
    return path


def account_writer(settings: Settings, started: float) -> AccountWriter:
    """The writer of the accounts of the run's cases, which lie beside its file."""
    return AccountWriter(accounts_path(_run_path(settings, started)))


def _run_path(settings: Settings, started: float) -> Path:
    return runs_folder(settings.root) / f"{run_id(started, _place(settings))}.json"


def _place(settings: Settings) -> tuple[int, int] | None:
    return (settings.shard.number, settings.shard.of) if settings.shard else None


def parse_kept_runs(text: str) -> int:
    """The number of runs to keep. Raises SettingError."""
    if not text.isdecimal() or len(text) > 6:
        raise SettingError(f"fc_runs: {text!r} must be a number of runs to keep")
    return int(text)
