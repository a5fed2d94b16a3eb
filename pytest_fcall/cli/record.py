"""`fcall record`: recorded replies, moved between the store and files under version control."""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from glob import escape
from pathlib import Path

from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.recordings.file import read_recordings, recordings_path, write_recordings
from pytest_fcall.backends.store import ReplyStore, StoreError, store_path
from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.project import existing_paths, relative_path, root_of
from pytest_fcall.core import Fault, Model
from pytest_fcall.core.duration import duration_in_seconds
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.safe_text import safe_line

_SUFFIX = ".replies.jsonl"

_EXAMPLES = """\
examples:
  fcall record --export                 write the replies of the last runs to files for version control
  fcall record --export cases/shop.fc.yaml
  fcall record --import                 read such files into the store
  fcall record --prune                  delete replies that the last run of their case did not use
  fcall record --prune --older 30d      delete replies that no run has used for 30 days
  fcall record --stats                  show the number and the age of the replies

pytest records replies when it asks a model, in .fcall/replies.db below the root folder. The exported files are in
__fcall__/MODEL/ beside the case file. Commit them: other machines then need no API key.
"""


def run(arguments: Sequence[str]) -> int:
    """Do one thing with the replies; 1 where something is damaged or could not be written."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.older is not None and options.action != "prune":
        parser.error("--older can only be used with --prune")
    if options.paths and options.action not in ("export", "import"):
        parser.error(f"--{options.action} takes no PATH: it covers all replies")
    scope = RecordScope(existing_paths(parser, options.paths))
    with closing(ReplyStore(store_path(scope.root))) as store:
        try:
            match options.action:
                case "export":
                    export_replies(store, scope)
                case "import":
                    import_replies(store, scope)
                case "prune":
                    prune_store(store, scope.root, None if options.older is None else time.time() - options.older)
                case _:
                    show_stats(store, scope)
        except StoreError as error:
            scope.report_problem(str(error))
        for fault in store.faults:
            scope.report_problem(fault.message)
    return 1 if scope.problems else 0


def _parser() -> ArgumentParser:
    parser = command_parser("record", "Export, import, prune or count recorded replies. No model is asked.", _EXAMPLES)
    actions = parser.add_mutually_exclusive_group(required=True)
    for name, summary in (
        ("export", "write files for version control"),
        ("import", "read such files into the store"),
        ("prune", "delete replies that are no longer used"),
        ("stats", "show the number and the age of the replies"),
    ):
        actions.add_argument(f"--{name}", dest="action", action="store_const", const=name, help=summary)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: this folder)")
    parser.add_argument(
        "--older", type=_age, metavar="AGE", help="with --prune: only replies that were not used for AGE, such as 30d"
    )
    return parser


def _age(text: str) -> int:
    try:
        return duration_in_seconds(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


class RecordScope:
    """The files and folders of the command line. Prints what happens to files, and counts problems."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.root = root_of(paths)
        self.paths = paths
        self.problems = 0

    def covers(self, path: Path) -> bool:
        """Whether `path` is one of the paths, or below one."""
        inner = Path(os.path.normpath(path))
        return any(inner.is_relative_to(os.path.normpath(named)) for named in self.paths)

    def relative(self, path: Path) -> str:
        """`path` as the store names it."""
        return relative_path(path, self.root)

    def report_file(self, path: Path, text: str) -> None:
        """Print what happened to a file."""
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


def export_replies(store: ReplyStore, scope: RecordScope) -> None:
    """Write the files. A damaged file is reported and not changed."""
    covered = [(model, file) for model, file in store.files() if scope.covers(scope.root / file)]
    gone = sorted({file for _, file in covered if not (scope.root / file).exists()})
    exported = sum(_export_file(store, scope, model, file) for model, file in covered if file not in gone)
    for file in gone:
        scope.report_file(scope.root / file, "not exported: no such file; `fcall record --prune` deletes its replies")
    if not exported and not gone and not scope.problems:
        print("nothing to export: no replies are recorded for these files; `fcall record --stats` shows all")


def _export_file(store: ReplyStore, scope: RecordScope, model_id: str, file: str) -> bool:
    """Write the replies of one model to the cases of one file. Returns whether there are any."""
    kind, _, name = model_id.partition(":")
    model = Model(kind, name)
    path = recordings_path(scope.root / file, model)
    committed = read_recordings(path, model)
    scope.report_faults(committed.faults)
    if committed.faults:
        scope.report_file(path, "not changed, because it is damaged")
        return False
    stored = (each.entry for each in store.replies(model_id, file))
    entries = _newest_in_use([*committed.entries, *stored], store.last_uses(model_id, file))
    if not entries:
        return False
    write_recordings(path, model, entries)
    before = {entry.digest for entry in committed.entries}
    scope.report_file(path, _reply_count(len(entries), sum(entry.digest not in before for entry in entries)))
    return True


def _newest_in_use(entries: Iterable[Recording], last_used: Mapping[str, set[str]]) -> list[Recording]:
    """The newest reply to each request. Requests that the last run of a case did not make are left out, if known."""
    newest: dict[tuple[str, str], Recording] = {}
    for entry in entries:
        if entry.case not in last_used or entry.digest in last_used[entry.case]:
            key = entry.case, entry.digest
            newest[key] = max(newest.get(key, entry), entry, key=lambda each: each.timestamp)
    return list(newest.values())


def import_replies(store: ReplyStore, scope: RecordScope) -> None:
    """Read the files into the store. Damaged lines are reported and left out."""
    files = list(dict.fromkeys(file for path in scope.paths for file in _recording_files(path)))
    for path in files:
        if not _is_beside_cases(path):
            scope.report_problem(f"{scope.relative(path)} must be in __fcall__/MODEL/ beside its case file")
            continue
        recordings = read_recordings(path)
        scope.report_faults(recordings.faults)
        if recordings.model is not None:
            case_file = path.parents[2] / path.name.removesuffix(_SUFFIX)
            new = store.import_newer(recordings.model, scope.relative(case_file), recordings.entries)
            scope.report_file(path, _reply_count(len(recordings.entries), new))
    if not files:
        print(f"nothing to import: no files __fcall__/MODEL/…{_SUFFIX} here")


def _recording_files(path: Path) -> Iterator[Path]:
    """The recordings below a folder or of a case file, or `path` itself."""
    if path.is_dir():
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            files = (Path(folder, name) for name in sorted(names) if name.endswith(_SUFFIX))
            yield from filter(_is_beside_cases, files)
    elif path.name.endswith(_SUFFIX):
        yield path
    else:
        yield from sorted(path.parent.glob(f"__fcall__/*/{escape(path.name)}{_SUFFIX}"))


def _is_beside_cases(path: Path) -> bool:
    return path.parent.parent.name == "__fcall__"


def _reply_count(number: int, new: int) -> str:
    return f"{'1 reply' if number == 1 else f'{number} replies'}, {new} new"


def prune_store(store: ReplyStore, root: Path, before: float | None) -> None:
    """Delete the replies that are no longer used, and those of files that are gone."""
    deleted = store.prune(lambda file: (root / file).exists(), before)
    print(f"deleted: {deleted}, kept: {sum(stats.replies for stats in store.stats())}")


def show_stats(store: ReplyStore, scope: RecordScope) -> None:
    """Print a line for each model."""
    path = store_path(scope.root)
    stats = store.stats()
    if not stats:
        print(f"no replies are recorded in {safe_line(scope.relative(path))}")
        return
    print("replies  files  oldest      newest      model")
    for each in stats:
        dates = f"{_day_text(each.oldest)}  {_day_text(each.newest)}"
        print(f"{each.replies:7}  {each.files:5}  {dates}  {safe_line(each.model)}")
    print(f"{path.stat().st_size / 1e6:.1f} MB in {safe_line(scope.relative(path))}")


def _day_text(moment: float) -> str:
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}" if moment > 0 else "unknown   "
    except (ValueError, OverflowError, OSError):  # out of the range of dates
        return "unknown   "
