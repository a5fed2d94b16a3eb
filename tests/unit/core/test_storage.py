from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from pytest_fcall.core.storage import (
    Folder,
    StorageError,
    address_in,
    file_system_of,
    folder_and_name,
    is_address,
    open_address,
)


@pytest.mark.parametrize(
    ("name", "expected"), [("s3://b/x", True), ("file:///x", True), ("C:\\x", False), ("x", False)]
)
def test_an_address_is_told_from_a_path(name: str, expected: bool) -> None:
    assert is_address(name) is expected


@pytest.mark.parametrize(
    "folder", ["s3://bucket/logs", "s3://bucket/logs?endpoint_override=127.0.0.1:9000&scheme=http"]
)
def test_the_query_of_an_address_says_how_to_reach_it_whatever_lies_before(folder: str) -> None:
    file = address_in(folder, "a.parquet")
    assert folder_and_name(file) == (folder, "a.parquet")
    assert folder_and_name(file.replace("a.parquet", "")) == (folder, "")


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_files_are_written_as_a_whole_and_listed(tmp_path: Path, scheme: str) -> None:
    folder = Folder(f"{scheme}{tmp_path}/made")
    assert folder.names() == []
    folder.make()
    folder.write("b", b"2")
    with pytest.raises(KeyError):
        _write_half(folder)
    with folder.writer("a") as stream:
        stream.write(b"1")
    assert folder.names() == ["a", "b"]
    assert folder.open("b").read() == b"2"
    assert folder.has("a")
    folder.remove("a")
    folder.remove("a")
    assert not folder.has("a")
    assert pickle.loads(pickle.dumps(folder)).names() == ["b"]  # noqa: S301


def _write_half(folder: Folder) -> None:
    with folder.writer("b") as stream:
        stream.write(b"half")
        raise KeyError


def test_an_address_that_leads_nowhere_says_so(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"this address cannot be used: .*nonsense"):
        file_system_of("nonsense://x")
    with pytest.raises(OSError, match=r"none-such") as caught:
        open_address(f"file://{tmp_path}/none-such")
    assert caught.value.strerror
