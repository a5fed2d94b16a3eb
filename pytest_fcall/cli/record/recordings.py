"""Recorded replies, moved between the store and files under version control."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from glob import escape
from pathlib import Path

from pytest_fcall.backends.recordings.entry import BISECTED, Recording, Recordings
from pytest_fcall.backends.recordings.file import (
    MENDED_BY_EXPORT,
    SUFFIX,
    read_recordings,
    recordings_path,
    remove_recordings,
    write_recordings,
)
from pytest_fcall.backends.store import CaseOfFile, ReplyStore, is_rescued
from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.files import anywhere
from pytest_fcall.cli.project import root_of
from pytest_fcall.core.backend import Model
from pytest_fcall.core.case import Fault
from pytest_fcall.core.files import case_file_of, path_from_root, shared_folders, write_git_attributes
from pytest_fcall.core.message_text import list_text
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.safe_text import safe_line

_MOST_NAMED = 5
_TESTED_KINDS = ("openai", "any", "local")
"""Kinds of models that are tested themselves, by the names that somebody gave."""


class RecordScope:
    """The files and folders of the command line. Prints what happens to files, and counts problems."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.rescued = [path for path in paths if is_rescued(path)]
        """Files of replies that the store could not take. They may be anywhere, as among temporary files."""
        self.paths = [path for path in paths if path not in self.rescued]
        self.root = root_of(self.paths or [Path.cwd()])
        self._ids: dict[Path, frozenset[str]] = {}
        self.left_out: dict[Path, set[str]] = {}
        """The recorded cases that their file has no more."""
        self.problems = 0
        self.reported = False
        """Whether anything was printed of a file."""

    def gone(self, file: str, cases: Iterable[str]) -> Collection[str]:
        """Those of the recorded cases that their file has no more; none where it cannot be told without a run."""
        path = self.root / file
        if path not in self._ids:
            self._ids[path] = _ids_in(path, self.root)
        if not (known := self._ids[path]):
            return ()
        # Variants of a case have its id before a `~`.
        found = {case for case in cases if not {case, case.rpartition("~")[0]} & known}
        self.left_out.setdefault(path, set()).update(found)
        return found

    def covers(self, path: Path) -> bool:
        """Whether `path` is one of the paths, or below one."""
        inner = Path(os.path.normpath(path))
        return any(inner.is_relative_to(os.path.normpath(named)) for named in self.paths)

    def relative(self, path: Path) -> str:
        """`path` as the store names it."""
        return path_from_root(path, self.root)

    def recording_files(self) -> Sequence[Path]:
        """The files of recordings that lie there, each once."""
        return list(dict.fromkeys(file for path in self.paths for file in _recording_files(path)))

    def report_damage(self, path: Path, recordings: Recordings) -> bool:
        """Print what is wrong with a file; whether something would be lost if it were written anew."""
        damaged = [fault for fault in recordings.faults if fault.code not in MENDED_BY_EXPORT]
        self.report_faults(damaged)
        if damaged:
            self.report_file(path, "not changed, because it is damaged")
            return True
        for fault in recordings.faults:
            print(
                safe_line(f"{self.relative(Path(fault.location.path))}:{fault.location.line}: mended: {fault.message}")
            )
        return False

    def report_file(self, path: Path, text: str) -> None:
        """Print what happened to a file."""
        self.reported = True
        print(safe_line(f"{self.relative(path)}: {text}"))

    def report_faults(self, faults: Iterable[Fault]) -> None:
        """Print what is wrong in a file."""
        for fault in faults:
            print(fault_text(fault, self.root), file=sys.stderr)
            self.problems += 1

    def report_problem(self, text: str) -> None:
        """Print any other problem."""
        print(f"fcall record: {safe_line(text)}", file=sys.stderr)
        self.problems += 1


def _ids_in(path: Path, root: Path) -> frozenset[str]:
    """The ids of the cases of a file; none where it has faults, a suite, or is no case file: there may be others."""
    if path.suffix not in (".yaml", ".yml"):
        return frozenset()
    sys.path[:0] = [str(root)] if str(root) not in sys.path else []  # tools may be in modules there
    try:
        found = read_case_file(path, root=root, outside=anywhere(root))
    except UnreadableFile:
        return frozenset()
    return frozenset() if found.faults else frozenset(entry.id for entry in found.entries)


def export_replies(store: ReplyStore, scope: RecordScope, models: Sequence[str] = ()) -> None:
    """Write the files of these models, or of those of the project, also those that a merge left to be mended.

    A damaged file is reported and not changed.
    """
    stored = [(model, file) for model, file in store.files() if scope.covers(scope.root / file)]
    left_out = _left_out({model for model, _ in stored}, scope, models)
    covered = [(model, file) for model, file in stored if model not in left_out]
    gone = sorted({file for _, file in covered if not (scope.root / file).exists()})
    exported = {_export_file(store, scope, model, file) for model, file in covered if file not in gone}
    for path in scope.recording_files():
        if path not in exported:
            _mend_file(scope, path)
    for case_file, cases in scope.left_out.items():
        if cases:
            scope.report_file(case_file, _gone_text(cases))
    for file in gone:
        scope.report_file(scope.root / file, "not exported: no such file; `fcall record --prune` deletes its replies")
    if not scope.reported and not left_out and not scope.problems:
        print("nothing to export: no replies are recorded for these files; `fcall record --stats` shows all")


def _left_out(stored: Collection[str], scope: RecordScope, models: Sequence[str]) -> Collection[str]:
    """The models whose replies are not exported: those that the command line, or else the configuration, does not name.

    Apps, the models inside them, tools and the like belong to what is tested, and are not named apart.
    """
    if models:
        return {model for model in stored if model not in models}
    asked = {model for model in stored if Model.by_id(model).kind in _TESTED_KINDS}
    if not asked:
        return ()
    from pytest_fcall.cli.configuration import configured_models

    named = configured_models(scope.root)
    others = sorted(asked - named) if named else []
    for model in others:
        print(safe_line(f"not exported: {model}, which the configuration does not name; --model {model} exports it"))
    return others


def _export_file(store: ReplyStore, scope: RecordScope, model_id: str, file: str) -> Path:
    """Write the replies of one model to the cases of one file, if there are any."""
    kind, _, name = model_id.partition(":")
    model = Model(kind, name)
    path = recordings_path(scope.root / file, model)
    committed = read_recordings(path, model)
    stored = (each.entry for each in store.replies(model_id, file))
    used = _newest_in_use([*committed.entries, *stored], store.last_uses(model_id, file))
    gone = scope.gone(file, {entry.case for entry in used})
    entries = [entry for entry in used if entry.case not in gone]
    if scope.report_damage(path, committed):
        return path
    if entries:
        write_recordings(path, model, entries)
        write_git_attributes(path.parents[1])
        before = {entry.digest for entry in committed.entries}
        scope.report_file(path, _reply_count(len(entries), sum(entry.digest not in before for entry in entries)))
    elif committed.entries and gone:
        remove_recordings(path)
        scope.report_file(path, "removed")
    return path


def _gone_text(gone: Collection[str]) -> str:
    named = list_text(sorted(gone), _MOST_NAMED)
    return f"not exported: {named}, which it no longer has; after a renaming, `fcall mv OLD NEW` takes replies along"


def _mend_file(scope: RecordScope, path: Path) -> None:
    """Write a file anew that no reply of the store belongs to, where a merge left something to be mended."""
    recordings = read_recordings(path)
    if recordings.model and _is_beside_cases(path) and not scope.report_damage(path, recordings):
        kind, _, name = recordings.model.partition(":")
        file = scope.relative(case_file_of(path, SUFFIX))
        used = _newest_in_use(recordings.entries, {})
        gone = scope.gone(file, {entry.case for entry in used})
        entries = [entry for entry in used if entry.case not in gone]
        if gone and not entries:
            remove_recordings(path)
            scope.report_file(path, "removed")
        elif write_recordings(path, Model(kind, name), entries):
            scope.report_file(path, _reply_count(len(entries), 0))


def _newest_in_use(entries: Iterable[Recording], last_used: Mapping[str, set[str]]) -> list[Recording]:
    """The newest reply to each request. Requests that the last run of a case did not make are left out, if known."""
    newest: dict[tuple[str, str], Recording] = {}
    for entry in entries:
        if entry.case.endswith(BISECTED):
            continue
        if entry.case not in last_used or entry.digest in last_used[entry.case]:
            key = entry.case, entry.digest
            newest[key] = max(newest.get(key, entry), entry, key=lambda each: each.timestamp)
    return list(newest.values())


def load_replies(store: ReplyStore, scope: RecordScope) -> None:
    """Read the files into the store. Damaged lines are reported and left out."""
    for path in scope.rescued:
        scope.report_file(path, f"{_reply_count(replies := store.take_in(path), replies)}; the file is removed")
    files = scope.recording_files()
    for path in files:
        if not _is_beside_cases(path):
            scope.report_problem(f"{scope.relative(path)} must be in __fcall__/MODEL/ beside its case file")
            continue
        recordings = read_recordings(path)
        scope.report_faults(recordings.faults)
        if recordings.model is not None:
            case_file = case_file_of(path, SUFFIX)
            new = store.import_newer(recordings.model, scope.relative(case_file), recordings.entries)
            scope.report_file(path, _reply_count(len(recordings.entries), new))
    if not (files or scope.rescued):
        print(f"nothing to load: no files __fcall__/MODEL/…{SUFFIX} here")


def _recording_files(path: Path) -> Iterator[Path]:
    """The recordings below a folder, of a model in its folder or of a case file, or `path` itself."""
    if path.is_dir():
        yield from sorted(filter(_is_beside_cases, path.glob(f"*{SUFFIX}")))
        for folder in shared_folders(path):
            yield from sorted(folder.glob(f"*/*{SUFFIX}"))
    elif path.name.endswith(SUFFIX):
        yield path
    else:
        yield from sorted(path.parent.glob(f"__fcall__/*/{escape(path.name)}{SUFFIX}"))


def _is_beside_cases(path: Path) -> bool:
    return path.parent.parent.name == "__fcall__"


def _reply_count(number: int, new: int) -> str:
    return f"{'1 reply' if number == 1 else f'{number} replies'}, {new} new"


def prune_store(store: ReplyStore, scope: RecordScope, before: float | None) -> None:
    """Delete the replies that are no longer used, and those of files and cases that are gone."""
    cases: dict[str, list[str]] = {}
    for file, case in store.cases():
        cases.setdefault(file, []).append(case)
    gone = [CaseOfFile(file, case) for file, named in cases.items() for case in _gone_cases(scope, file, named)]
    deleted = store.prune(lambda file: (scope.root / file).exists(), before, gone)
    print(f"deleted: {deleted}, kept: {sum(stats.replies for stats in store.stats())}")


def _gone_cases(scope: RecordScope, file: str, cases: Sequence[str]) -> Iterator[str]:
    """Those that their file has no more, and those under which answers to versions of their questions are kept."""
    gone = scope.gone(file, {case.removesuffix(BISECTED) for case in cases})
    return (case for case in cases if case.removesuffix(BISECTED) in gone)


def show_stats(store: ReplyStore, scope: RecordScope) -> None:
    """Print a line for each model."""
    place = scope.relative(Path(store.place)) if store.is_file else store.place
    stats = store.stats()
    if not stats:
        if not store.faults:
            print(f"no replies are recorded in {safe_line(place)}")
        return
    print("replies  files  oldest      newest      model")
    for each in stats:
        dates = f"{_day_text(each.oldest)}  {_day_text(each.newest)}"
        print(f"{each.replies:7}  {each.files:5}  {dates}  {safe_line(each.model)}")
    print(f"{store.size / 1e6:.1f} MB in {safe_line(place)}")


def _day_text(moment: float) -> str:
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}" if moment > 0 else "unknown   "
    except (ValueError, OverflowError, OSError):  # out of the range of dates
        return "unknown   "
