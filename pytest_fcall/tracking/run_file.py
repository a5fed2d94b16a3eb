"""Files of runs: `.fcall/runs/<id>.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from pytest_fcall.core.files import (
    MOST_KEPT_BYTES,
    PRIVATE_FOLDER,
    PRIVATE_MODE,
    bounded_lines,
    make_private_folder,
    open_regular,
    read_regular,
    replace_file,
)
from pytest_fcall.core.json_data import (
    JsonEncoder,
    LaterVersion,
    as_mapping,
    check_version,
    optional_field,
    read_json,
    required_field,
)
from pytest_fcall.core.values import Json

VERSION = 1
"""Version of the format. Files of later versions are refused: their fields may have another meaning."""

_ENCODER: Final = JsonEncoder(separators=(",", ":"))
_END: Final = "]}}"
"""The text that follows the last result."""
_RUNS_TO_COMPARE = 2
"""A comparison needs this many runs."""


class RunFileError(ValueError):
    """A file that is not a run, or that this version cannot read. The text names the file."""


class RunFile(NamedTuple):
    """The results of a run, and everything that decides how it ends."""

    id: str
    started: str
    """The time in UTC, as ISO 8601."""
    results: Mapping[str, Json]
    """The results, as `reporting.result_json` writes them."""
    models: tuple[str, ...] = ()
    """The models, in the order in which they were asked."""
    gates: tuple[str, ...] = ()
    fail: str = "items"
    failed: Mapping[str, bool] = MappingProxyType({})
    """The failures besides gates: `verdicts`, `worse`, `undecided`, `unanswered` and so on."""
    broken_off: bool = False
    empty: bool = False
    """Whether it ran no test."""
    shard: tuple[int, int] | None = None
    """The number of the shard, from 1, and the number of shards."""
    parts: tuple[str, ...] = ()
    """The ids of the shards that it was merged of."""
    provenance: Mapping[str, Json] = MappingProxyType({})
    """Versions, revision and settings; for people. Only shards are compared by it: one version must have made them."""

    @property
    def rows(self) -> Sequence[Json]:
        """The results of the cases; none where a file from elsewhere has something else in their place."""
        rows = self.results.get("results")
        return rows if isinstance(rows, Sequence) and not isinstance(rows, str) else ()


def run_id(started: float, shard: tuple[int, int] | None = None) -> str:
    """The id of a run that started at this moment, in seconds since 1970. Ids sort by time."""
    moment = datetime.fromtimestamp(started, UTC)
    fraction = moment.microsecond * 0x10000 // 1_000_000
    return f"{moment:%Y%m%d-%H%M%S}-{fraction:04x}" + ("-{}of{}".format(*shard) if shard else "")


def moment_of(id_: str) -> str:
    """The part of a run's id that sorts by time, and that all shards of a run in one process have alike."""
    return "-".join(id_.split("-")[:3])


def runs_folder(root: Path) -> Path:
    """The folder of a project's runs."""
    return root / PRIVATE_FOLDER / "runs"


def run_paths(root: Path) -> list[Path]:
    """The files of runs, oldest first."""
    return sorted(runs_folder(root).glob("*.json"), key=lambda path: path.name)


def write_run(path: Path, run: RunFile) -> None:
    """Write a run atomically. Raises OSError."""
    make_private_folder(path.parent)
    replace_file(path, (portion.encode() for portion in _portions(run)), PRIVATE_MODE)


def remove_old_runs(root: Path, keep: int, max_bytes: int = 250_000_000) -> None:
    """Remove all but the newest `keep` runs, and older ones beyond `max_bytes`; the last two always stay."""
    room = max_bytes
    for place, path in enumerate(reversed(run_paths(root))):
        with suppress(FileNotFoundError):  # another process removes runs, too
            room -= path.stat().st_size
            if place >= keep or (room < 0 and place >= _RUNS_TO_COMPARE):
                path.unlink()


def read_run(path: Path) -> RunFile:
    """Read a run; unknown fields are ignored. Raises RunFileError."""
    with _read_errors(path):
        return _from_json(as_mapping(read_json(read_regular(path, MOST_KEPT_BYTES)), "the file"))


def read_run_by_rows(path: Path) -> tuple[RunFile, Iterator[Json]]:
    """Read a run without its results, and these one by one: as objects they take three times the memory of the text.

    Raises RunFileError, which the iterator does, too.
    """
    with _read_errors(path), open_regular(path) as file:
        head = next(bounded_lines(file), b"")
        if head.endswith(b'"results":[\n'):
            return _from_json(as_mapping(read_json(head + _END.encode()), "the file")), _rows(path, len(head))
    run = read_run(path)  # no result is in it, or somebody has formatted it
    with _read_errors(path):
        optional_field(run.results, "results", list)
    return run, iter(run.rows)


def _rows(path: Path, start: int) -> Iterator[Json]:
    with _read_errors(path), open_regular(path) as file:
        file.seek(start)
        line = b""
        for line in map(bytes.strip, bounded_lines(file)):
            yield read_json(line.removesuffix(_END.encode()).removesuffix(b","))
        if not line.endswith(_END.encode()):
            raise ValueError("its end is missing")


@contextmanager
def _read_errors(path: Path) -> Iterator[None]:
    """Name the file in errors."""
    try:
        yield
    except OSError as error:
        raise RunFileError(f"{path}: cannot be read: {error.strerror}") from None
    except LaterVersion as error:
        raise RunFileError(f"{path}: {error}") from None
    except ValueError as error:
        raise RunFileError(f"{path}: not a run file: {error}") from None


def run_data(run: RunFile) -> dict[str, Json]:
    """The run as its file holds it."""
    return {**_to_json(run), "results": run.results}


def _portions(run: RunFile) -> Iterator[str]:
    """The text of the file, a line for each result: all at once would take ten times the memory of the text."""
    figures = {name: value for name, value in run.results.items() if name != "results"}
    head = _ENCODER.encode({**_to_json(run), "results": {**figures, "results": []}})
    yield head.removesuffix(_END)
    for place, row in enumerate(run.rows):
        yield f"{',' if place else ''}\n{_ENCODER.encode(row)}"
    yield f"{_END}\n"


def _to_json(run: RunFile) -> dict[str, Json]:
    return {
        "fcall_run": VERSION,
        "id": run.id,
        "started": run.started,
        "models": run.models,
        "shard": run.shard,
        "parts": run.parts,
        "broken_off": run.broken_off,
        "empty": run.empty,
        "failed": dict(run.failed),
        "gates": run.gates,
        "fail": run.fail,
        "provenance": dict(run.provenance),
    }


def _from_json(fields: Mapping[str, Json]) -> RunFile:
    check_version(fields, "fcall_run", VERSION)
    return RunFile(
        id=required_field(fields, "id", str),
        started=required_field(fields, "started", str),
        results=required_field(fields, "results", dict),
        models=_texts(fields, "models"),
        gates=_texts(fields, "gates"),
        fail=optional_field(fields, "fail", str) or "items",
        failed={name: value is True for name, value in (optional_field(fields, "failed", dict) or {}).items()},
        broken_off=optional_field(fields, "broken_off", bool) or False,
        empty=optional_field(fields, "empty", bool) or False,
        shard=_shard(fields),
        parts=_texts(fields, "parts"),
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
    raise ValueError("`shard` must be [number, total]")
