"""Parts of the answer to a plan: Parquet files with some replies each, in a folder that all machines see."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple
from uuid import uuid4

from pytest_fcall.core import Json
from pytest_fcall.core.parquet import SUFFIX, ParquetError
from pytest_fcall.core.storage import Folder

_BEGIN: Final = "part-"
COLUMNS: Final = ("digest", "reply", "error")


class PartRow(NamedTuple):
    """What came of a request: a reply as JSON text, or an error."""

    digest: str
    reply: str | None = None
    error: str | None = None

    @classmethod
    def of_reply(cls, digest: str, reply: Mapping[str, Json]) -> PartRow:
        """The row of a reply."""
        return cls(digest, json.dumps(reply))


def part_names(folder: Folder) -> list[str]:
    """The names of the parts in a folder."""
    return [name for name in folder.names() if name.startswith(_BEGIN) and name.endswith(SUFFIX)]


def write_part(folder: Folder, rows: Iterable[PartRow]) -> str:
    """Write a part, and return its name. Raises OSError."""
    import pyarrow as pa
    from pyarrow import parquet

    name = f"{_BEGIN}{uuid4().hex}{SUFFIX}"
    columns = zip(*rows, strict=True)
    table = pa.table({title: pa.array(values, pa.string()) for title, values in zip(COLUMNS, columns, strict=True)})
    written = pa.BufferOutputStream()
    parquet.write_table(table, written)
    folder.write(name, written.getvalue().to_pybytes())
    return name


def read_part(folder: Folder, name: str) -> Iterator[PartRow]:
    """The rows of a part. Raises ParquetError, and OSError."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with folder.open(name) as file, parquet.ParquetFile(file) as part:
            for batch in part.iter_batches(columns=[*COLUMNS]):
                yield from (PartRow(**row) for row in batch.to_pylist())
    except (pa.ArrowException, TypeError) as error:
        raise ParquetError(f"{name}: it is no part of an answer: {str(error).splitlines()[0]:.200}") from None
