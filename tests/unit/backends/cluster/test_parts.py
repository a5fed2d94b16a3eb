from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.backends.cluster.answerer import (
    PartRow,
    is_complete_row,
    part_names,
    read_part,
    request_of_columns,
    write_part,
)
from pytest_fcall.core import Json, Request, Tool
from pytest_fcall.core.parquet import ParquetError
from pytest_fcall.core.storage import Folder


def test_a_part_gives_back_its_rows(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    rows = [PartRow.of_reply("one", {"text": "ä"}), PartRow("two", error="no")]
    name = write_part(folder, rows)
    assert part_names(folder) == [name]
    assert [*read_part(folder, name)] == rows


def test_a_file_that_is_no_part_says_so(tmp_path: Path) -> None:
    (tmp_path / "part-x.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(ParquetError, match=r"part-x.parquet: it is no part of an answer"):
        [*read_part(Folder(str(tmp_path)), "part-x.parquet")]


def test_a_request_comes_back_from_the_columns_of_a_plan() -> None:
    row: dict[str, Json] = {
        "digest": "d",
        "sample": 2,
        "messages": '[{"role": "user", "content": "Hi"}]',
        "tools": '[{"name": "get", "description": "", "parameters": {"type": "object"}}]',
        "settings": '{"temperature": 0}',
    }
    tool = Tool("get", "", {"type": "object"})
    assert request_of_columns(row) == Request(({"role": "user", "content": "Hi"},), (tool,), {"temperature": 0}, 2)


def test_a_key_is_nothing_that_a_row_says() -> None:
    assert is_complete_row(Request((), settings={"temperature": 0}))
    assert not is_complete_row(Request((), settings={"api_key": "sk-1234567890abcdef"}))
    assert not is_complete_row(Request((), proposed=frozenset({"temperature"})))
