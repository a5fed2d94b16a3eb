"""`fcall history --watch`: nightly runs, judged one after the other."""

from __future__ import annotations

import json
import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.reporting.night_watch import WatchedModel, watch_lines, watch_to_json
from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.result.kept_runs import RunFiles
from pytest_fcall.session.result.watched_runs import nights_of, watched_models
from pytest_fcall.tracking.night_watch import acknowledged
from pytest_fcall.tracking.watch_file import WatchFileError, read_watches, watch_path, write_watches


def watch(
    parser: ArgumentParser, found: RunFiles, root: Path, glob: str, level: float, *, acknowledge: bool, as_json: bool
) -> int:
    """Judge the new nights; 1 where one raises an alarm, 10 where there is none to judge."""
    path = watch_path(root)
    try:
        watches = read_watches(path)
    except WatchFileError as error:
        parser.error(safe_line(str(error)))
    nights = nights_of(found.runs)
    chosen = {model: each for model, each in nights.by_model.items() if glob_matches(glob, model)}
    models, after, told = watched_models(found.runs, chosen, watches, level)
    last = max((each.last for model, each in watches.items() if glob_matches(glob, model)), default="")
    unjudged = sum(run > last for run in nights.unjudged)
    if unjudged:
        told = [*told, f"{plural_text(unjudged, 'run')} without a new answer not judged: replays are no evidence"]
    for line in (*nights.left_out, *told):
        print(f"fcall history: {safe_line(line)}", file=sys.stderr)
    if not models:
        print("fcall history: no run with an answer that a model gave is there: nothing to watch", file=sys.stderr)
        return 1
    if acknowledge:
        after |= {each.model: acknowledged(after[each.model]) for each in models}
    _print(models, as_json=as_json)
    if after != watches:
        write_watches(path, after)
    if acknowledge:
        print(*_acknowledged([each.model for each in models]), sep="\n", file=sys.stderr)
        return 0
    if any(each.is_new_alarm for each in models):
        return 1
    return 0 if any(each.new for each in models) else 10


def _print(models: Sequence[WatchedModel], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(watch_to_json(models), indent=2))
        return
    print(*watch_lines(models, shutil.get_terminal_size((100, 24)).columns, sys.stdout.encoding), sep="\n")


def _acknowledged(models: Sequence[str]) -> list[str]:
    return [f"acknowledged: the watch over {safe_line(model)} begins anew with the next night" for model in models]
