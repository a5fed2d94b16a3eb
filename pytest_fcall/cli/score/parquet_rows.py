"""Rows of stored answers, and verdicts on them, in Parquet: a column holds what a field of a JSON row holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedReader
from typing import Any, Final

from pytest_fcall.core.commands import install_command
from pytest_fcall.core.json_data import read_json
from pytest_fcall.core.parquet import SUFFIX, json_columns
from pytest_fcall.core.storage import Folder, StorageError, folder_and_name
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenFile

_ROWS: Final = 256
_SAMPLE: Final = 1000
"""Verdicts by whose fields the columns are chosen."""
_MORE: Final = "more"
"""The column with the fields of a verdict, as JSON text, that have no column of their own."""


def parquet_lines(file: BufferedReader, named: frozenset[str]) -> Iterator[bytes]:
    """The rows of a file as lines of JSON. Raises BrokenFile.

    A column that is null is a field that is not there, and so is a null in a struct. Columns of the type JSON are read,
    and those that are named.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise BrokenFile(f"Parquet needs pyarrow: {install_command('parquet')}") from None
    try:
        with parquet.ParquetFile(file, arrow_extensions_enabled=True) as rows:
            as_json = named | json_columns(rows.schema_arrow)
            for batch in rows.iter_batches(_ROWS):
                for row in batch.to_pylist():
                    yield _line(row, as_json)
    except StorageError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise BrokenFile(f"it is no Parquet file, or damaged: {(str(error).splitlines() or [''])[0]:.200}") from None


def _line(row: Mapping[str, Any], as_json: frozenset[str]) -> bytes:
    fields = {}
    for name, value in row.items():
        if value is not None:
            try:
                fields[name] = read_json(value) if name in as_json and isinstance(value, str) else _without_nulls(value)
            except ValueError:  # it is judged as the text that it is
                fields[name] = value
    return json.dumps(fields, default=str).encode()


def _without_nulls(value: Any) -> Any:
    """A value without the fields of structs that a row does not have."""
    if isinstance(value, Mapping):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value


@contextmanager
def verdict_file(name: str) -> Iterator[Callable[[str], None]]:
    """A file of verdicts, by its path or its address: JSON Lines, or Parquet. Gives what adds a line of JSON to it.

    It is there as a whole, or not at all. Raises OSError.
    """
    folder, file = folder_and_name(name)
    with Folder(folder).writer(file) as stream:
        if not file.endswith(SUFFIX):
            yield lambda line: stream.write(f"{line}\n".encode())
            return
        columns = _Columns(stream)
        yield columns.add
        columns.close()


class _Columns:
    """Verdicts in columns, which the first of them decide."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._waiting: list[Mapping[str, Json]] = []
        self._columns: Mapping[str, type] = {}
        self._writer: Any = None

    def add(self, line: str) -> None:
        self._waiting.append(json.loads(line))
        if len(self._waiting) == _SAMPLE:
            self._write()

    def close(self) -> None:
        self._write()
        self._writer.close()

    def _write(self) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        if self._writer is None:
            self._columns = _columns_of(self._waiting)
            types = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
            fields = [(name, types[kind]) for name, kind in self._columns.items()]
            self._writer = parquet.ParquetWriter(self._stream, pa.schema([*fields, (_MORE, pa.string())]))
        rows = [_as_columns(row, self._columns) for row in self._waiting]
        self._writer.write_table(pa.Table.from_pylist(rows, self._writer.schema))
        self._waiting = []


def _columns_of(rows: Sequence[Mapping[str, Json]]) -> dict[str, type]:
    """The columns for some verdicts: fields that are always of one plain type, and `error`; others become JSON text."""
    kinds: dict[str, set[type]] = {}
    for row in rows:
        for name, value in row.items():
            if value is not None:
                kinds.setdefault(name, set()).add(type(value))
    columns: dict[str, type] = {
        name: next(iter(own)) if len(own) == 1 and own <= {bool, int, float, str} else str
        for name, own in kinds.items()
        if name != _MORE
    }
    return {**columns, "error": str}


def _as_columns(row: Mapping[str, Json], columns: Mapping[str, type]) -> dict[str, Any]:
    """A verdict in columns; what fits into none of them is JSON text in `more`."""
    fields: dict[str, Any] = {}
    more: dict[str, Json] = {}
    for name, value in row.items():
        kind = columns.get(name)
        if kind is not None and type(value) is kind and not (kind is int and not _fits(value)):
            fields[name] = value
        elif kind is str and not isinstance(value, str) and value is not None:
            fields[name] = json.dumps(value)
        elif value is not None:
            more[name] = value
    return {**fields, **({_MORE: json.dumps(more)} if more else {})}


def _fits(value: Json) -> bool:
    return isinstance(value, int) and -(1 << 63) <= value < 1 << 63
