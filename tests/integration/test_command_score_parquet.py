"""`fcall score` of Parquet, by path and by address: the same verdicts as of JSON Lines."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from pytest_fcall.core import Json
from tests.by_night import by_night
from tests.integration.command import fcall
from tests.integration.test_command_score import CASES, FENCED, RIGHT, SILENT, WRONG, Row, rows_of, score, write

ROWS = [RIGHT, WRONG, FENCED, SILENT] * 100


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "cases.jsonl", *CASES)
    write(tmp_path / "rows.jsonl", *ROWS)
    return tmp_path


def as_text(row: Row) -> dict[str, str | None]:
    names = {name for each in ROWS for name in each}
    return {name: json.dumps(row[name]) if name in row else None for name in sorted(names)}


def test_columns_with_json_give_the_same_bytes_and_the_same_summary(folder: Path) -> None:
    plain = score(folder, "--compare", "rows.jsonl")
    rows = [as_text(row) for row in ROWS]
    parquet.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet")
    named = ",".join(rows[0])
    told = score(folder, "--compare", f"--json-columns={named}", "rows.parquet")
    assert told.stdout == plain.stdout
    assert told.stderr == plain.stderr.replace("rows.jsonl", "rows.parquet")
    by_address = score(folder, f"--json-columns={named}", f"file://{folder}/rows.parquet")
    assert by_address.stdout == plain.stdout


@pytest.mark.parametrize("name", ["verdicts.parquet", by_night("verdicts.jsonl"), "address"])
def test_verdicts_are_written_whole_into_a_file(folder: Path, name: str) -> None:
    plain = rows_of(score(folder, "rows.jsonl"))
    target = f"file://{folder}/verdicts.parquet" if name == "address" else name
    done = score(folder, "--output", target, f"file://{folder}/rows.jsonl")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    if name == "verdicts.jsonl":
        assert [json.loads(line) for line in (folder / name).read_text().splitlines()] == plain
        return
    table = parquet.read_table(folder / "verdicts.parquet")
    assert table.schema.field("valid").type == pa.bool_()
    written = [{key: value for key, value in row.items() if value is not None} for row in table.to_pylist()]
    for row in written:
        row["strict_reasons"] = json.loads(row["strict_reasons"])
    assert written == [{key: value for key, value in row.items() if value is not None} for row in plain]
    assert not [path for path in folder.iterdir() if "draft" in path.name]


def test_a_file_that_is_no_parquet_is_a_broken_row(folder: Path) -> None:
    (folder / "bad.parquet").write_bytes(b"PAR1 and no more")
    done = score(folder, "bad.parquet")
    assert done.returncode == 1
    assert "bad.parquet:1: it is no Parquet file, or damaged" in done.stdout
    assert "Traceback" not in done.stderr


def test_addresses_that_lead_nowhere_are_told(folder: Path) -> None:
    for address, reason in (
        ("nonsense://x", "cannot be used"),
        (f"file://{folder}/none.jsonl", "there is no such file"),
    ):
        done = score(folder, address)
        assert done.returncode == 2
        assert f"cannot read {address.partition(':')[0]}://" in done.stderr
        assert reason in done.stderr
    done = score(folder, "--output=nonsense://x/y.parquet", "rows.jsonl")
    assert done.returncode == 1
    assert "cannot write nonsense://x/y.parquet" in done.stderr


def test_answers_to_own_cases_give_the_same_bytes_however_they_are_read_and_judged(tmp_path: Path) -> None:
    calls = {"tools": [{"name": "look"}], "cases": [{"id": "hi", "prompt": "Hi", "expect": "no_call"}]}
    (tmp_path / "own.fc.yaml").write_text(json.dumps(calls), "utf-8")
    replies: list[Json] = [[{"name": "look", "arguments": {}}] if number % 7 == 0 else [] for number in range(300)]
    rows: list[Row] = [{"id": "hi" if number % 11 else "ho", "reply": reply} for number, reply in enumerate(replies)]
    write(tmp_path / "answers.jsonl", *rows)
    as_columns = pa.table({"id": [row["id"] for row in rows], "reply": [json.dumps(row["reply"]) for row in rows]})
    (tmp_path / "parts").mkdir()
    parquet.write_table(as_columns.slice(0, 100), tmp_path / "parts" / "1.parquet")
    parquet.write_table(as_columns.slice(100), tmp_path / "parts" / "2.parquet")
    plain = fcall(tmp_path, "score", "--cases=own.fc.yaml", "--format=json", "answers.jsonl")
    assert (plain.returncode, len(plain.stdout.splitlines())) == (1, 300), plain.stderr
    assert "28 answers not judged, since no case has this id: ho (28)" in plain.stderr
    again = fcall(tmp_path, "score", "--cases=own.fc.yaml", "--format=json", "-j2", "answers.jsonl")
    assert (again.stdout, again.stderr) == (plain.stdout, plain.stderr)
    for source in ("parts", f"file://{tmp_path}/parts/"):
        given = "--cases=own.fc.yaml", "--json-columns=reply", "--output=verdicts.jsonl", source
        done = fcall(tmp_path, "score", *given)
        assert done.stdout.splitlines()[:3] == plain.stderr.splitlines()[:3]
        assert (tmp_path / "verdicts.jsonl").read_text("utf-8") == plain.stdout
