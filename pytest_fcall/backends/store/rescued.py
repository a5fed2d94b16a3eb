"""Files of replies that a database could not take, `replies.rescued-…jsonl`: a line of JSON for each row.

Nothing that was paid for is lost where the disk is full, the database locked or its server gone. Who opens the database
next takes the files in that lie in its folder. They need no locks, and much less room than a database.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path

from pytest_fcall.backends.recordings.line import catalogue_line
from pytest_fcall.backends.store.rows import Row, Tools, Value
from pytest_fcall.core.files import PRIVATE_MODE, replace_file
from pytest_fcall.core.json_data import read_own_json

_WORD = "rescued"


def rescue(path: Path, rows: Iterable[Row], catalogues: Mapping[str, Tools]) -> Path:
    """Write rows into a file named after `path` and beside it, or else among temporary files. Raises OSError."""
    content = "".join(f"{json.dumps(line)}\n" for line in _lines(rows, catalogues)).encode()
    names = (path.with_name(f"{path.stem}.{_WORD}-{os.getpid()}-{number}.jsonl") for number in count(1))
    try:
        target = next(name for name in names if not name.exists())
        replace_file(target, [content], PRIVATE_MODE)
    except OSError:
        return _among_temporary_files(path, content)
    return target


def is_rescued(path: Path) -> bool:
    """Whether this is the name of such a file."""
    return f".{_WORD}-" in path.name and path.suffix == ".jsonl"


def rescued_beside(path: Path) -> Iterator[Path]:
    """The files of `rescue` beside this one."""
    for rescued in path.parent.glob(f"{path.stem}.{_WORD}-*.jsonl"):
        if rescued.is_file() and not rescued.is_symlink():
            yield rescued


def read_rescued(rescued: Path) -> Iterator[tuple[Value, ...]]:
    """The records of a file; a line that was changed is passed over. Raises OSError."""
    return _records(rescued.read_bytes())


def _among_temporary_files(path: Path, content: bytes) -> Path:
    descriptor, name = tempfile.mkstemp(".jsonl", f"fcall-{path.stem}.{_WORD}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError:
        with suppress(OSError):
            Path(name).unlink()
        raise
    return Path(name)


def _lines(rows: Iterable[Row], catalogues: Mapping[str, Tools]) -> Iterator[list[object]]:
    """Records as those of the tables; bytes are in Base64, in a list of their own."""
    for digest, tools in catalogues.items():
        yield [digest, _written(catalogue_line(digest, tools).encode())]
    for row in rows:
        yield [_written(value) if isinstance(value, bytes) else value for value in row]


def _written(value: bytes) -> list[str]:
    return [base64.b64encode(value).decode()]


def _records(content: bytes) -> Iterator[tuple[Value, ...]]:
    """The records of a file; a line that was changed is passed over."""
    for line in content.splitlines():
        with suppress(ValueError):
            record = read_own_json(line)
            if isinstance(record, list):
                yield tuple(map(_value, record))


def _value(value: object) -> Value:
    """A value of a record. Raises ValueError."""
    match value:
        case str() | int() | float() | None:
            return value
        case [str(encoded)]:
            return base64.b64decode(encoded, validate=True)
    raise ValueError("a value that no record has")
