"""`fcall record --export` and `--import`: between the store and the files under version control."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from glob import escape
from pathlib import Path

from pytest_fcall.backends.recorded import Recorded
from pytest_fcall.backends.recordings import read_recordings, recordings_path, write_recordings
from pytest_fcall.backends.store import ReplyStore
from pytest_fcall.cli.recorded import Records
from pytest_fcall.core import Model

_ENDING = ".replies.jsonl"


def export_replies(store: ReplyStore, records: Records) -> None:
    """Write the files; one that is damaged is told and left as it is."""
    named = [(model, file) for model, file in store.files() if records.names(records.root / file)]
    gone = sorted({file for _, file in named if not (records.root / file).exists()})
    exported = sum(_export(store, records, model, file) for model, file in named if file not in gone)
    for file in gone:
        records.say(records.root / file, "not exported, because it is gone; `fcall record --prune` forgets its replies")
    if not exported and not gone and not records.status:
        print("nothing to export: no replies are recorded for these files; `fcall record --stats` tells of all")


def _export(store: ReplyStore, records: Records, model_id: str, file: str) -> bool:
    kind, _, name = model_id.partition(":")
    model = Model(kind, name)
    path = recordings_path(records.root / file, model)
    committed = read_recordings(path, model)
    for fault in committed.faults:
        records.fault(fault)
    if committed.faults:
        records.say(path, "left as it is, because it is damaged")
        return False
    kept = (each.entry for each in store.replies(model_id, file))
    entries = _current([*committed.entries, *kept], store.last_used(model_id, file))
    if not entries:
        return False
    write_recordings(path, model, entries)
    before = {entry.digest for entry in committed.entries}
    new = sum(entry.digest not in before for entry in entries)
    records.say(path, f"{_replies(len(entries))}, {new} new")
    return True


def _current(entries: Iterable[Recorded], last_used: Mapping[str, set[str]]) -> list[Recorded]:
    """The newest reply to each request, of those that the last run of the case made, as far as that is known."""
    newest: dict[tuple[str, str], Recorded] = {}
    for entry in entries:
        if entry.case not in last_used or entry.digest in last_used[entry.case]:
            key = entry.case, entry.digest
            newest[key] = max(newest.get(key, entry), entry, key=lambda each: each.moment)
    return list(newest.values())


def import_replies(store: ReplyStore, records: Records) -> None:
    """Take in what the files hold; damaged lines are told, and the others count."""
    found = list(dict.fromkeys(file for path in records.paths for file in _recordings(path)))
    for path in found:
        if not _is_beside_cases(path):
            records.problem(f"{records.from_root(path)} must lie in __fcall__/MODEL/ beside the file of its cases")
            continue
        recordings = read_recordings(path)
        for fault in recordings.faults:
            records.fault(fault)
        if recordings.model is not None:
            case_file = path.parents[2] / path.name.removesuffix(_ENDING)
            new = store.take(recordings.model, records.from_root(case_file), recordings.entries)
            records.say(path, f"{_replies(len(recordings.entries))}, {new} new")
    if not found:
        print(f"nothing to import: there are no files __fcall__/MODEL/…{_ENDING} here")


def _recordings(path: Path) -> Iterator[Path]:
    """The files of recordings below a folder, of a case file, or `path` itself."""
    if path.is_dir():
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            inside = (Path(folder, name) for name in sorted(files) if name.endswith(_ENDING))
            yield from filter(_is_beside_cases, inside)
    elif path.name.endswith(_ENDING):
        yield path
    else:
        yield from sorted(path.parent.glob(f"__fcall__/*/{escape(path.name)}{_ENDING}"))


def _is_beside_cases(path: Path) -> bool:
    return path.parent.parent.name == "__fcall__"


def _replies(number: int) -> str:
    return "1 reply" if number == 1 else f"{number} replies"
