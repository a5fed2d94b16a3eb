"""The file `.fcall/watch.json`: what `fcall history --watch` knows of each model's nights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pytest_fcall.core import Json
from pytest_fcall.core.files import (
    MOST_KEPT_BYTES,
    PRIVATE_FOLDER,
    PRIVATE_MODE,
    make_private_folder,
    read_regular,
    refuse_way_out,
    replace_file,
)
from pytest_fcall.core.json_data import as_mapping, check_version, optional_field, read_json, required_field
from pytest_fcall.tracking.night_watch import LARGEST, MOST_KEPT, Bet, JudgedNight, Watch

_VERSION: Final = 1
_MOST_NIGHTS: Final = 10**6


class WatchFileError(ValueError):
    """A file that holds no watch, or one of a later version. The text names it, and says what to do."""


def watch_path(root: Path) -> Path:
    """The file of a project."""
    return root / PRIVATE_FOLDER / "watch.json"


def read_watches(path: Path) -> dict[str, Watch]:
    """The watches by model; none where there is no file. Raises WatchFileError."""
    try:
        return _watches(as_mapping(read_json(read_regular(path, MOST_KEPT_BYTES)), "the file"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise WatchFileError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise WatchFileError(f"{path}: {error}; without this file the watch begins anew") from None


def write_watches(path: Path, watches: Mapping[str, Watch]) -> None:
    """Write the file as a whole. Raises OSError."""
    make_private_folder(path.parent)
    refuse_way_out(path)
    data = {"fcall_watch": _VERSION, "models": {model: _to_json(each) for model, each in sorted(watches.items())}}
    replace_file(path, [f"{json.dumps(data, indent=1)}\n".encode()], PRIVATE_MODE)


def _to_json(watch: Watch) -> dict[str, Json]:
    return {
        "since": watch.since,
        "nights": watch.nights,
        "judged": [[*each] for each in watch.judged],
        "best_fall": [*watch.best_fall],
        "best_rise": [*watch.best_rise],
        "alarm": watch.alarm,
    }


def _watches(fields: Mapping[str, Json]) -> dict[str, Watch]:
    check_version(fields, "fcall_watch", _VERSION)
    models = required_field(fields, "models", dict)
    return {str(model): _watch(as_mapping(each, "a model")) for model, each in models.items()}


def _watch(fields: Mapping[str, Json]) -> Watch:
    judged = tuple(_night(each) for each in required_field(fields, "judged", list))
    nights = required_field(fields, "nights", int)
    runs = [each.run for each in judged]
    if not len(judged) == min(nights, MOST_KEPT) or nights > _MOST_NIGHTS or runs != sorted({*runs}):
        raise ValueError("the nights that were judged do not fit together")
    return Watch(
        optional_field(fields, "since", str) or "",
        nights,
        judged,
        _bet(fields.get("best_fall")),
        _bet(fields.get("best_rise")),
        optional_field(fields, "alarm", str) or "",
    )


def _night(data: Json) -> JudgedNight:
    match data:
        case [str(run), int() | float() as fall, int() | float() as rise] if run:
            return JudgedNight(run, _evidence(fall), _evidence(rise))
    raise ValueError("a night is not a run and two numbers")


def _bet(data: Json) -> Bet:
    match data:
        case [int() | float() as won, str(began), str(until)]:
            return Bet(_evidence(won), began, until)
    raise ValueError("a bet is not a number and two runs")


def _evidence(number: float) -> float:
    if isinstance(number, bool) or not 0 <= number <= LARGEST:
        raise ValueError("evidence is a number from 0 on")
    return float(number)
