"""`fcall record`: recorded replies between the store and the files under version control."""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from glob import escape
from pathlib import Path

from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.recordings.file import read_recordings, recordings_path, write_recordings
from pytest_fcall.backends.store import ReplyStore, StoreError, store_path
from pytest_fcall.cli.project import existing_paths, root_of
from pytest_fcall.core import Fault, Model
from pytest_fcall.core.age import age_in_seconds
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.safe_text import safe_line


@dataclass(slots=True)
class RecordScope:
    """The files and folders that the command line names, and how the command fares."""

    root: Path
    paths: Sequence[Path]
    status: int = 0

    @classmethod
    def of(cls, paths: Sequence[Path]) -> RecordScope:
        """Find the root of the paths."""
        return cls(root_of(paths), paths)

    def names(self, path: Path) -> bool:
        """Whether `path` is one of the paths, or below one."""
        inner = Path(os.path.normpath(path))
        return any(inner.is_relative_to(os.path.normpath(named)) for named in self.paths)

    def from_root(self, path: Path) -> str:
        """`path` as the store has it."""
        return (path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix()

    def say(self, path: Path, text: str) -> None:
        """Tell what became of a file."""
        print(safe_line(f"{self.from_root(path)}: {text}"))

    def fault(self, fault: Fault) -> None:
        """Tell what is wrong in a file."""
        print(fault_text(fault, self.root), file=sys.stderr)
        self.status = 1

    def problem(self, text: str) -> None:
        """Tell what is wrong elsewhere."""
        print(f"fcall record: {safe_line(text)}", file=sys.stderr)
        self.status = 1


_RECORDINGS_ENDING = ".replies.jsonl"


def export_replies(store: ReplyStore, records: RecordScope) -> None:
    """Write the files; one that is damaged is told and left as it is."""
    named = [(model, file) for model, file in store.files() if records.names(records.root / file)]
    gone = sorted({file for _, file in named if not (records.root / file).exists()})
    exported = sum(_export_file(store, records, model, file) for model, file in named if file not in gone)
    for file in gone:
        records.say(records.root / file, "not exported, because it is gone; `fcall record --prune` forgets its replies")
    if not exported and not gone and not records.status:
        print("nothing to export: no replies are recorded for these files; `fcall record --stats` tells of all")


def _export_file(store: ReplyStore, records: RecordScope, model_id: str, file: str) -> bool:
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
    entries = _newest_in_use([*committed.entries, *kept], store.last_uses(model_id, file))
    if not entries:
        return False
    write_recordings(path, model, entries)
    before = {entry.digest for entry in committed.entries}
    new = sum(entry.digest not in before for entry in entries)
    records.say(path, f"{_reply_count(len(entries))}, {new} new")
    return True


def _newest_in_use(entries: Iterable[Recording], last_used: Mapping[str, set[str]]) -> list[Recording]:
    """The newest reply to each request, of those that the last run of the case made, as far as that is known."""
    newest: dict[tuple[str, str], Recording] = {}
    for entry in entries:
        if entry.case not in last_used or entry.digest in last_used[entry.case]:
            key = entry.case, entry.digest
            newest[key] = max(newest.get(key, entry), entry, key=lambda each: each.timestamp)
    return list(newest.values())


def import_replies(store: ReplyStore, records: RecordScope) -> None:
    """Take in what the files hold; damaged lines are told, and the others count."""
    found = list(dict.fromkeys(file for path in records.paths for file in _recording_files(path)))
    for path in found:
        if not _is_beside_cases(path):
            records.problem(f"{records.from_root(path)} must lie in __fcall__/MODEL/ beside the file of its cases")
            continue
        recordings = read_recordings(path)
        for fault in recordings.faults:
            records.fault(fault)
        if recordings.model is not None:
            case_file = path.parents[2] / path.name.removesuffix(_RECORDINGS_ENDING)
            new = store.import_newer(recordings.model, records.from_root(case_file), recordings.entries)
            records.say(path, f"{_reply_count(len(recordings.entries))}, {new} new")
    if not found:
        print(f"nothing to import: there are no files __fcall__/MODEL/…{_RECORDINGS_ENDING} here")


def _recording_files(path: Path) -> Iterator[Path]:
    """The files of recordings below a folder, of a case file, or `path` itself."""
    if path.is_dir():
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            inside = (Path(folder, name) for name in sorted(files) if name.endswith(_RECORDINGS_ENDING))
            yield from filter(_is_beside_cases, inside)
    elif path.name.endswith(_RECORDINGS_ENDING):
        yield path
    else:
        yield from sorted(path.parent.glob(f"__fcall__/*/{escape(path.name)}{_RECORDINGS_ENDING}"))


def _is_beside_cases(path: Path) -> bool:
    return path.parent.parent.name == "__fcall__"


def _reply_count(number: int) -> str:
    return "1 reply" if number == 1 else f"{number} replies"


def prune_store(store: ReplyStore, records: RecordScope, before: float | None) -> None:
    """Forget what is not used any more, and what files that are gone have asked."""
    forgotten = store.prune(lambda file: (records.root / file).exists(), before)
    kept = sum(stats.replies for stats in store.stats())
    print(f"forgotten: {forgotten}, kept: {kept}")


def show_stats(store: ReplyStore, records: RecordScope) -> None:
    """Show what is kept, one line a model."""
    path = store_path(records.root)
    found = store.stats()
    if not found:
        print(f"no replies are recorded in {safe_line(records.from_root(path))}")
        return
    print("replies  files  oldest      newest      model")
    for stats in found:
        dates = f"{_day_text(stats.oldest)}  {_day_text(stats.newest)}"
        print(f"{stats.replies:7}  {stats.files:5}  {dates}  {safe_line(stats.model)}")
    print(f"{path.stat().st_size / 1e6:.1f} MB in {safe_line(records.from_root(path))}")


def _day_text(moment: float) -> str:
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}" if moment > 0 else "unknown   "
    except (ValueError, OverflowError, OSError):  # a moment that no calendar of this system has
        return "unknown   "


_HELP = """\
examples:
  fcall record --export                 write the replies of the last runs to files for version control
  fcall record --export cases/shop.fc.yaml
  fcall record --import                 take the replies in such files into the store
  fcall record --prune                  forget what the last run of its case did not use
  fcall record --prune --older 30d      forget what no run has used for 30 days
  fcall record --stats                  what is kept, and how old it is

Replies are recorded by a run that asks a model: pytest --fc-model=KIND:NAME. They are kept in .fcall/replies.db below
the root folder. The files lie in __fcall__/MODEL/ beside the case file; commit them, and a run elsewhere needs no key.
"""


def run(arguments: Sequence[str]) -> int:
    """Do one thing with the replies; 1 where something is damaged, or could not be written."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.older is not None and options.action != "prune":
        parser.error("--older belongs to --prune")
    if options.paths and options.action not in ("export", "import"):
        parser.error(f"--{options.action} takes no PATH: it is about all replies")
    records = RecordScope.of(existing_paths(parser, options.paths))
    with closing(ReplyStore(store_path(records.root))) as store:
        try:
            match options.action:
                case "export":
                    export_replies(store, records)
                case "import":
                    import_replies(store, records)
                case "prune":
                    prune_store(store, records, None if options.older is None else time.time() - options.older)
                case _:
                    show_stats(store, records)
        except StoreError as error:
            records.problem(str(error))
        for fault in store.faults:
            records.problem(fault.message)
    return records.status


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall record",
        description="Carry recorded replies to version control and back, or forget old ones. No model is asked.",
        epilog=_HELP,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    actions = parser.add_mutually_exclusive_group(required=True)
    for name, does in (
        ("export", "write files for version control"),
        ("import", "read such files into the store"),
        ("prune", "forget what is not used any more"),
        ("stats", "show what is kept"),
    ):
        actions.add_argument(f"--{name}", dest="action", action="store_const", const=name, help=does)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: this folder)")
    parser.add_argument(
        "--older", type=_age, metavar="AGE", help="with --prune: only what no run has used for so long, such as 30d"
    )
    return parser


def _age(text: str) -> int:
    try:
        return age_in_seconds(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
