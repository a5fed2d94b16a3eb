"""Recordings of a case file for version control: a file that people review, and its bookkeeping.

The file for review names the format and the model, and then has a line for each tool, system prompt and setting, and
one for each reply. Such a line changes only where what it shows changes.

The bookkeeping beside it has a line for each recording: the digest by which it is found, and the reply as it came. What
is shown of it must be in the file for review, so that nothing is replayed unseen. Each line stands for itself, so that
lines of two branches can be mixed, and one branch that shows another reply does not lose that of the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pytest_fcall.backends.recordings.entry import Recording, Recordings
from pytest_fcall.backends.recordings.line import invalid_data, recording_to_data
from pytest_fcall.backends.recordings.reader import VERSION, RecordingsReader
from pytest_fcall.backends.recordings.review import Review, instructions_of, review_of
from pytest_fcall.backends.recordings.shared_parts import WrittenParts
from pytest_fcall.core import Json, Model
from pytest_fcall.core.files import MOST_KEPT_BYTES, read_regular, refuse_link_out, replace_file
from pytest_fcall.core.gc_pause import gc_paused
from pytest_fcall.core.json_data import readable_json

SUFFIX = ".replies.jsonl"
BOOKKEEPING_SUFFIX = ".recorded.jsonl"


def recordings_path(case_file: Path, model: Model) -> Path:
    """The file for review: `__fcall__/<model>/<name of the case file>.replies.jsonl`, beside the case file."""
    return case_file.parent / "__fcall__" / model.folder / f"{case_file.name}{SUFFIX}"


def bookkeeping_path(path: Path) -> Path:
    """The bookkeeping of the file for review in `path`."""
    return path.with_name(path.name.removesuffix(SUFFIX) + BOOKKEEPING_SUFFIX)


def recordings_paths(case_file: Path, model: Model) -> tuple[Path, Path]:
    """The file for review, and its bookkeeping."""
    path = recordings_path(case_file, model)
    return path, bookkeeping_path(path)


def write_recordings(path: Path, model: Model, entries: Iterable[Recording]) -> bool:
    """Replace both files; return whether that changes anything. The same entries give the same bytes, in any order.

    Raises ValueError, and leaves the files as they are, if a reply is not valid JSON data.
    """
    parts = WrittenParts()
    replies, recorded = dict[str, None](), []
    for review, entry in sorted(((_review(each), each) for each in entries), key=_order):
        replies[review.line] = None
        recorded.append(_bookkeeping_line(entry, parts))
    header: dict[str, Json] = {"model": model.id, "version": VERSION}
    reviewed_lines = [readable_json({"fcall": "replies", **header}), *parts.lines(), *replies]
    recorded_lines = [readable_json({"fcall": "recorded", **header}), *parts.contexts(), *recorded]
    changes = [_replace(bookkeeping_path(path), recorded_lines), _replace(path, reviewed_lines)]
    return any(changes)


def remove_recordings(path: Path) -> None:
    """Remove both files. Raises OSError."""
    refuse_link_out(path)
    for each in (path, bookkeeping_path(path)):
        each.unlink(missing_ok=True)


def read_recordings(path: Path, model: Model | None = None) -> Recordings:
    """Read the file for review in `path`, and its bookkeeping; missing files have no recordings.

    Each damaged line becomes a fault, and the other lines are read. A reply that has no recording is a fault, and so is
    a recording whose reply is not shown; the recording counts nevertheless. With `model`, replies of another model are
    a fault, too.
    """
    with gc_paused():
        return RecordingsReader(path, bookkeeping_path(path), model).read()


def _review(entry: Recording) -> Review:
    try:
        return review_of(entry)
    except (TypeError, ValueError, RecursionError) as error:
        raise invalid_data(entry, error) from error


def _order(reviewed: tuple[Review, Recording]) -> tuple[Review, str, str]:
    review, entry = reviewed
    return review, entry.digest, entry.recorded


def _bookkeeping_line(entry: Recording, parts: WrittenParts) -> str:
    own = entry.request.messages[len(instructions_of(entry.request)) :]
    try:
        return readable_json({**recording_to_data(entry, own), "context": parts.add(entry.request)})
    except (TypeError, ValueError, RecursionError) as error:
        raise invalid_data(entry, error) from error


def _replace(path: Path, lines: Iterable[str]) -> bool:
    """Replace a file unless it has these lines already."""
    content = "".join(f"{line}\n" for line in lines).encode()
    with suppress(FileNotFoundError):
        if read_regular(path, MOST_KEPT_BYTES).replace(b"\r\n", b"\n") == content:
            return False
    replace_file(path, [content])
    return True
