"""Rows in Parquet files. The library is imported when the first of them is read or written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from pytest_fcall.core.commands import install_command
from pytest_fcall.core.values import Json

SUFFIX: Final = ".parquet"
GROUP_ROWS: Final = 1000
"""Rows that are in memory at a time, and those of a group in a file."""


class ParquetError(OSError):
    """A file is no Parquet, or the library for it is missing. The text says so."""


def read_parquet(source: Path | BinaryIO) -> Iterator[dict[str, Json]]:
    """The rows of a file, by its path or open. Raises ParquetError and OSError."""
    library = _library()
    from pyarrow import parquet

    if isinstance(source, Path):
        source.stat()
    try:
        with parquet.ParquetFile(source) as file:
            for batch in file.iter_batches(GROUP_ROWS):
                yield from batch.to_pylist()
    except library.ArrowException as error:
        raise ParquetError(f"it is no Parquet file: {str(error).splitlines()[0]:.200}") from None


def json_columns(schema: Any) -> frozenset[str]:
    """The columns of a schema whose type says that they hold JSON as text."""
    return frozenset(each.name for each in schema if getattr(each.type, "extension_name", "") == "arrow.json")


def write_parquet(path: Path, columns: Mapping[str, str], rows: Iterable[Mapping[str, Json]]) -> None:
    """Write a file with these columns, whose types are `string` or `int32`. Raises ParquetError and OSError."""
    library = _library()
    from pyarrow import parquet

    types = {"string": library.string(), "int32": library.int32()}
    schema = library.schema([(name, types[kind]) for name, kind in columns.items()])
    remaining = iter(rows)
    draft = path.with_name(f".{path.name}.draft")
    try:
        with parquet.ParquetWriter(draft, schema) as writer:
            while portion := [*islice(remaining, GROUP_ROWS)]:
                writer.write_table(library.Table.from_pylist(portion, schema))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _library() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise ParquetError(f"Parquet needs pyarrow: {install_command('parquet')}") from None
    return pa
