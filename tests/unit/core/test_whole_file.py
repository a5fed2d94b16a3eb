from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from pytest_fcall.core.files import replace_file


def test_a_file_is_made_or_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    replace_file(path, [b"o", b"ne"])
    replace_file(path, [b"two"])

    assert path.read_bytes() == b"two"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_bytes(b"one")
    path.chmod(0o640)
    replace_file(path, [b"two"])

    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_file_that_cannot_be_replaced_leaves_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError, match=r"directory|denied"):
        replace_file(path, [b"text"])

    assert [*tmp_path.iterdir()] == [path]
