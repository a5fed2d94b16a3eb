from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.json_files import BrokenFile, BrokenRow, open_lines, parse_record, read_lines


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b' {"a": 1}\r\n', {"a": 1}),
        ('{"ä": "€"}'.encode(), {"ä": "€"}),
        (b'{"a": Infinity}', {"a": float("inf")}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_a_record_is_read(line: bytes, value: Json) -> None:
    assert parse_record(line) == value


@pytest.mark.parametrize(
    ("line", "why"),
    [
        pytest.param(b"{", "not JSON: Expecting property name enclosed in double quotes at character 2", id="cut-off"),
        pytest.param(b"", "not JSON: Expecting value at character 1", id="nothing"),
        pytest.param(b"null", "expected a JSON object, got null", id="null"),
        pytest.param(b"[1]", "expected a JSON object, got list", id="list"),
        pytest.param(b'{"a": "\xff"}', "not UTF-8: invalid start byte at byte 8", id="no-utf-8"),
        pytest.param(b'{"a": ' * 100_000, "JSON that is nested too deeply", id="deep"),
        pytest.param(b'{"a": ' + b"9" * 5_000 + b"}", "JSON with a number of thousands of digits", id="digits"),
    ],
)
def test_a_line_that_is_no_record_is_broken(line: bytes, why: str) -> None:
    with pytest.raises(BrokenRow) as broken:
        parse_record(line)
    assert str(broken.value) == why


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz", "rows"])
@pytest.mark.parametrize("packed", [False, True])
def test_compression_is_told_by_the_content(tmp_path: Path, name: str, packed: bool) -> None:
    data = b'{"a": 1}\n{"a": 2}'
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if packed else data)
    with open_lines(path) as stream:
        assert list(read_lines(stream)) == [b'{"a": 1}\n', b'{"a": 2}']


def test_compressed_files_one_after_the_other_are_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.gz"
    path.write_bytes(gzip.compress(b"1\n") + gzip.compress(b"2\n"))
    with open_lines(path) as stream:
        assert list(read_lines(stream)) == [b"1\n", b"2\n"]


@pytest.mark.parametrize(
    "spoilt", [lambda data: data[:-9], lambda data: data + b"more", lambda data: data[:9] + b"~" * 9]
)
def test_compressed_data_that_breaks_off_is_told(tmp_path: Path, spoilt: object) -> None:
    assert callable(spoilt)
    path = tmp_path / "rows.gz"
    path.write_bytes(spoilt(gzip.compress(b"1\n" * 100)))
    with open_lines(path) as stream, pytest.raises(BrokenFile, match="the compressed data breaks off"):
        list(read_lines(stream))


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"")
    with open_lines(path) as stream:
        assert list(read_lines(stream)) == []
