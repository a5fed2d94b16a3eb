"""A run, kept in a file: `.fcall/runs/<id>.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fcall.core import Json
from pytest_fcall.core.json_fields import as_mapping, optional_field, required_field

VERSION = 1
"""Of the schema. Files of later versions are refused, since they may mean something else."""

_RUNS_TO_COMPARE = 2
"""So many runs make a comparison."""


class RunFileError(ValueError):
    """A file that is no run, or none that this version can read. The text names the file."""


@dataclass(frozen=True, slots=True)
class RunFile:
    """What became of the cases of a run, and everything that decides how it ends."""

    id: str
    started: str
    """In UTC, as ISO 8601 has it."""
    results: Mapping[str, Json]
    """As `reporting.results` writes them."""
    models: tuple[str, ...] = ()
    """In the order in which they were asked."""
    gates: tuple[str, ...] = ()
    fail: str = "items"
    failed: Mapping[str, bool] = field(default_factory=dict)
    """What failed beside gates: `verdicts`, `otherwise`, `unanswered`."""
    broken_off: bool = False
    shard: tuple[int, int] | None = None
    """Which of how many, counted from 1."""
    provenance: Mapping[str, Json] = field(default_factory=dict)
    """Versions, revision and settings: told, never compared."""


def runs_folder(root: Path) -> Path:
    """Where the runs of a project are kept."""
    return root / ".fcall" / "runs"


def run_paths(root: Path) -> list[Path]:
    """The runs that are kept, oldest first."""
    return sorted(runs_folder(root).glob("*.json"), key=lambda path: path.name)


def write_run(path: Path, run: RunFile) -> None:
    """Write it whole or not at all. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(json.dumps(_to_json(run), separators=(",", ":")) + "\n", encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def remove_old_runs(root: Path, keep: int, most_bytes: int = 250_000_000) -> None:
    """Remove all but the newest; more of them where together they take more room, but for the last two."""
    room = most_bytes
    for place, path in enumerate(reversed(run_paths(root))):
        with suppress(FileNotFoundError):  # another run forgets, too
            room -= path.stat().st_size
            if place >= keep or (room < 0 and place >= _RUNS_TO_COMPARE):
                path.unlink()


def read_run(path: Path) -> RunFile:
    """Read what `write_run` wrote; fields that this version does not know are left out. Raises RunFileError."""
    try:
        data = json.loads(path.read_bytes())
        return _from_json(as_mapping(data, "the file"))
    except OSError as error:
        raise RunFileError(f"{path}: cannot be read: {error.strerror}") from None
    except RecursionError:
        raise RunFileError(f"{path}: is nested too deeply for a run file") from None
    except ValueError as error:
        raise RunFileError(f"{path}: is no run file: {error}") from None


def _to_json(run: RunFile) -> dict[str, Json]:
    return {
        "fcall_run": VERSION,
        "id": run.id,
        "started": run.started,
        "models": run.models,
        "shard": run.shard,
        "broken_off": run.broken_off,
        "failed": run.failed,
        "gates": run.gates,
        "fail": run.fail,
        "provenance": run.provenance,
        "results": run.results,
    }


def _from_json(fields: Mapping[str, Json]) -> RunFile:
    version = required_field(fields, "fcall_run", int)
    if version > VERSION:
        raise ValueError(f"it is of version {version}, and this pytest-fcall reads {VERSION}: update it")
    return RunFile(
        id=required_field(fields, "id", str),
        started=required_field(fields, "started", str),
        results=required_field(fields, "results", dict),
        models=_texts(fields, "models"),
        gates=_texts(fields, "gates"),
        fail=optional_field(fields, "fail", str) or "items",
        failed={name: value is True for name, value in (optional_field(fields, "failed", dict) or {}).items()},
        broken_off=optional_field(fields, "broken_off", bool) or False,
        shard=_shard(fields),
        provenance=optional_field(fields, "provenance", dict) or {},
    )


def _texts(fields: Mapping[str, Json], name: str) -> tuple[str, ...]:
    found: Sequence[Json] = optional_field(fields, name, list) or ()
    if not all(isinstance(each, str) for each in found):
        raise ValueError(f"`{name}` is not a list of strings")
    return tuple(map(str, found))


def _shard(fields: Mapping[str, Json]) -> tuple[int, int] | None:
    match optional_field(fields, "shard", list):
        case None:
            return None
        case [int(number), int(of)] if 1 <= number <= of:
            return number, of
    raise ValueError("`shard` is not a pair of numbers, which and of how many")
