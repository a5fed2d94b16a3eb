from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from pytest_fcall.core.storage import Folder, StorageError, file_system_of, is_address, open_address


@pytest.mark.parametrize(
    ("name", "expected"), [("s3://b/x", True), ("file:///x", True), ("C:\\x", False), ("x", False)]
)
def test_an_address_is_told_from_a_path(name: str, expected: bool) -> None:
    assert is_address(name) is expected


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
