from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from pytest_fcall.cli import main
from pytest_fcall.core import Json
from tests.by_night import by_night
from tests.integration.command import fcall
from tests.unit.suites.bfcl.rows import case_row, decoded, forecast, prompt

Row = dict[str, Json]

CASES: list[Row] = [case_row(forecast(city=["Oslo"])), case_row(category="irrelevance")]
RIGHT: Row = {"category": "simple_python", "id": "simple_python_0", **decoded(forecast(city="Oslo"))}
WRONG: Row = {"category": "simple_python", "id": "simple_python_0", **decoded(forecast(city="Rome"))}
FENCED: Row = {
    "category": "simple_python",
    "id": "simple_python_0",
    **prompt("```python\n[weather.forecast(city='Oslo')]\n```"),
}
SILENT: Row = {"category": "irrelevance", "id": "irrelevance_0", **prompt("Nothing fits.")}

needs_full_disk = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "cases.jsonl", *CASES)
    return tmp_path


def write(path: Path, *rows: Row | str) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def score(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return fcall(folder, "score", "--format", "bfcl", "--cases", "cases.jsonl", *arguments)


def rows_of(done: subprocess.CompletedProcess[str]) -> list[Row]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_row_gets_the_verdicts_of_both_profiles(folder: Path) -> None:
    write(folder / "rows.jsonl", RIGHT, WRONG, FENCED, SILENT)
    done = score(folder, "rows.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    rows = rows_of(done)
    assert [list(row) for row in rows] == [
        ["category", "id", "valid", "error_type", "strict_valid", "strict_reasons"]
    ] * 4
    assert [(row["valid"], row["error_type"], row["strict_valid"]) for row in rows] == [
        (True, None, True),
        (False, "value_error:string", False),
        (False, "ast_decoder:decoder_failed", True),
        (True, None, True),
    ]
    assert rows[1]["strict_reasons"] == [
        {"kind": "wrong_value", "path": "calls[0].args.city", "message": "`city` is 'Rome', expected 'Oslo'"}
    ]


@pytest.mark.parametrize("processes", ["1", "3"])
def test_rows_come_out_in_the_order_in_which_they_went_in(folder: Path, processes: str) -> None:
    write(folder / "a.jsonl", *[RIGHT, WRONG, SILENT] * 100)
    write(folder / "b.jsonl.gz", *[WRONG, SILENT] * 50)
    done = score(folder, "-j", processes, "a.jsonl", "b.jsonl.gz")
    assert done.returncode == 0
    assert [row["valid"] for row in rows_of(done)] == [True, False, True] * 100 + [False, True] * 50


def test_compressed_input_is_told_by_its_content(folder: Path) -> None:
    write(folder / "rows.gz", RIGHT).rename(folder / "rows.jsonl")
    assert len(rows_of(score(folder, "rows.jsonl"))) == 1


@pytest.mark.parametrize("packed", [False, by_night(True)])
def test_standard_input_is_read(folder: Path, python: str, packed: bool) -> None:
    data = write(folder / ("rows.gz" if packed else "rows.jsonl"), RIGHT, WRONG).read_bytes()
    command = [python, "-m", "pytest_fcall.cli", "score", "--format", "bfcl", "--cases", "cases.jsonl", "-"]
    done = subprocess.run(command, cwd=folder, input=data, capture_output=True, timeout=120, check=False)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2)


def test_a_broken_line_loses_no_other(folder: Path) -> None:
    unknown: Row = {**RIGHT, "id": "simple_python_1"}
    silent: Row = {"category": "irrelevance", "id": "irrelevance_0"}
    lines: list[Row | str] = [
        RIGHT,
        '{"category": ',
        "",
        "7",
        '"\\ud800"',
        "\x00",
        "[" * 100_000,
        "9" * 5_000,
        unknown,
        silent,
        WRONG,
    ]
    write(folder / "rows.jsonl", *lines)
    done = score(folder, "rows.jsonl")
    assert done.returncode == 1
    assert done.stderr == "fcall score: 8 of 10 rows could not be judged\n"
    rows = rows_of(done)
    assert [rows[0]["valid"], rows[-1]["valid"]] == [True, False]
    errors = [str(row["error"]) for row in rows[1:-1]]
    assert [error.partition(": ")[0] for error in errors] == [
        f"rows.jsonl:{line}" for line in (2, 4, 5, 6, 7, 8, 9, 10)
    ]
    assert "not JSON" in errors[0]
    assert "nested too deeply" in errors[4]
    assert rows[-3] == {
        "category": "simple_python",
        "id": "simple_python_1",
        "error": "rows.jsonl:9: no case 'simple_python_1' in category 'simple_python'",
    }
    assert "rows.jsonl:10: missing `decoded`; `raw` is read only with style FC or prompt" in str(rows[-2]["error"])


def test_bytes_that_are_no_text_are_a_broken_line(folder: Path) -> None:
    (folder / "rows.jsonl").write_bytes(b'{"id": "\xff"}\n' + json.dumps(RIGHT).encode())
    rows = rows_of(score(folder, "rows.jsonl"))
    assert "not UTF-8" in str(rows[0]["error"])
    assert rows[1]["valid"] is True


def test_a_file_that_breaks_off_is_told_and_the_next_one_read(folder: Path) -> None:
    whole = write(folder / "cut.jsonl.gz", *[RIGHT] * 2_000).read_bytes()
    (folder / "cut.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    write(folder / "rows.jsonl", WRONG)
    done = score(folder, "cut.jsonl.gz", "rows.jsonl")
    assert done.returncode == 1
    *_, broken, last = rows_of(done)
    assert "the compressed data breaks off" in str(broken["error"])
    assert last["valid"] is False


def test_what_prepares_memory_is_passed_over_and_the_next_file_judged(folder: Path) -> None:
    prepared = "BFCL_v4_memory_kv_prereq_result.json"
    write(folder / prepared, {"id": "memory_kv_prereq_0-customer-0", "result": [["Noted."]]})
    write(folder / "rows.jsonl", RIGHT)
    done = fcall(folder, "score", "--format", "bfcl", "--cases", "cases.jsonl", prepared, "rows.jsonl")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
    assert done.stderr.startswith(f"fcall score: skipped {prepared}: conversations that fill a memory have no right")


def test_a_broken_case_breaks_the_rows_that_need_it(folder: Path) -> None:
    write(folder / "cases.jsonl", "{", *CASES, {**CASES[0], "id": "bad", "function": "none"})
    write(folder / "rows.jsonl", RIGHT, {**RIGHT, "id": "bad"}, {**RIGHT, "id": "missing"})
    fine, bad, missing = rows_of(score(folder, "rows.jsonl"))
    assert fine["valid"] is True
    assert bad["error"] == "rows.jsonl:2: invalid case (cases.jsonl:4): `function` must be a list of objects"
    assert "cases.jsonl:1 cannot be read: not JSON" in str(missing["error"])


def test_compare_tells_how_many_verdicts_are_the_same(folder: Path) -> None:
    agreeing: Row = {**RIGHT, "valid": True, "error_type": None}
    differing: Row = {**WRONG, "valid": False, "error_type": "value_error:others"}
    write(folder / "same.jsonl", agreeing, RIGHT)
    done = score(folder, "--compare", "same.jsonl")
    assert done.returncode == 0
    assert "valid: 1 of 1 agree with the rows" in done.stderr
    write(folder / "other.jsonl", agreeing, differing, FENCED)
    done = score(folder, "--compare", "other.jsonl")
    assert done.returncode == 1
    assert len(rows_of(done)) == 3
    assert "valid: 2 of 2 agree with the rows\nerror_type: 1 of 2 agree with the rows" in done.stderr
    assert '  other.jsonl:2: error_type is "value_error:string", the row has "value_error:others"\n' in done.stderr
    assert "1  undecodable_but_readable" in done.stderr


def test_differences_between_the_profiles_are_written(folder: Path) -> None:
    write(folder / "rows.jsonl", RIGHT, FENCED)
    done = score(folder, "--differences", "differences.jsonl", "rows.jsonl")
    assert done.returncode == 0
    (line,) = (folder / "differences.jsonl").read_text(encoding="utf-8").splitlines()
    told = json.loads(line)
    assert (told["place"], told["why"]) == ("rows.jsonl:2", "undecodable_but_readable")
    assert (told["valid"], told["strict_valid"]) == (False, True)


def test_the_source_can_be_chosen(folder: Path) -> None:
    both: Row = {**FENCED, "decoded": [forecast(city="Oslo")]}
    write(folder / "rows.jsonl", both)
    assert [
        rows_of(score(folder, "--from", each, "rows.jsonl"))[0]["valid"] for each in ("auto", "raw", "decoded")
    ] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--cases", "cases.jsonl", "rows.jsonl"], "required: --format"),
        (["--format", "bflc", "--cases", "cases.jsonl", "rows.jsonl"], "invalid choice: 'bflc'"),
        (["--format", "bfcl", "rows.jsonl"], "required: --cases"),
        (["--format", "bfcl", "--cases", "none.jsonl", "cases.jsonl"], "cannot read none.jsonl: No such file"),
        (["--format", "bfcl", "--cases", "cases.jsonl", "none.jsonl"], "cannot read none.jsonl: No such file"),
        (["--format", "bfcl", "--cases", "cases.jsonl", "."], ". is a folder without files that end in _result.json"),
        (["--format", "bfcl", "--cases", "cases.jsonl", "-j", "0", "-"], "must be an integer from 1 to 256, not '0'"),
        (["--format", "bfcl", "--cases", "cases.jsonl", "-", "-"], "standard input (-) can be read only once"),
        (["--format", "bfcl", "--cases", "cases.jsonl", "--differences", "no/no", "-"], "cannot write no/no"),
    ],
)
def test_a_wrong_command_line_is_told(folder: Path, arguments: list[str], error: str) -> None:
    done = fcall(folder, "score", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert error in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.nightly  # as any other command
def test_a_reader_that_has_seen_enough_ends_it(folder: Path) -> None:
    write(folder / "rows.jsonl", *[RIGHT] * 5_000)
    command = [sys.executable, "-m", "pytest_fcall.cli", "score", "--format", "bfcl", "--cases", "cases.jsonl"]
    with subprocess.Popen(
        [*command, "-j", "2", "rows.jsonl"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 1


@needs_full_disk
@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_full_disk_is_told_in_one_line(folder: Path, processes: str) -> None:
    write(folder / "rows.jsonl", *[RIGHT, FENCED] * 500)
    command = [sys.executable, "-m", "pytest_fcall.cli", "score", "--format", "bfcl", "--cases", "cases.jsonl"]
    command += ["-j", processes, "rows.jsonl"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, cwd=folder, stdout=full, stderr=subprocess.PIPE, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (1, b"fcall: No space left on device\n")
    told = score(folder, "--differences", "/dev/full", "rows.jsonl")
    assert (told.returncode, told.stderr) == (1, "fcall: No space left on device\n")


@needs_full_disk
def test_a_full_disk_is_told_to_a_program_whose_standard_output_is_no_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = write(folder / "rows.jsonl", *[RIGHT, FENCED] * 500)
    errors = StringIO()
    monkeypatch.setattr(sys, "stdout", StringIO())
    monkeypatch.setattr(sys, "stderr", errors)
    command = ["score", "--format", "bfcl", "--cases", str(folder / "cases.jsonl"), "-j", "1"]
    assert main([*command, "--differences", "/dev/full", str(rows)]) == 1
    assert errors.getvalue() == "fcall: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="a shell closes standard input")
def test_a_closed_standard_input_is_told(folder: Path) -> None:
    command = f"{sys.executable} -m pytest_fcall.cli score --format bfcl --cases cases.jsonl - <&-"
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "cannot read standard input: Bad file descriptor" in done.stderr


def scoring(folder: Path) -> subprocess.Popen[bytes]:
    """Score standard input in two processes; they lead a group of their own, and can be interrupted."""
    # A shell has what it puts in the background ignore interrupts, and these tests may be there.
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{listening}; import pytest_fcall.cli.__main__", "score", "--format", "bfcl"]
    return subprocess.Popen(
        [*command, "--cases", "cases.jsonl", "-j", "2", "-"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="nothing that tells the workers")
def test_a_worker_that_is_killed_is_told(folder: Path) -> None:
    with scoring(folder) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write(20 * 64 * f"{json.dumps(RIGHT)}\n".encode())
        running.stdin.flush()
        running.stdout.readline()
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
        os.kill(int(children.read_text(encoding="ascii").split()[0]), signal.SIGKILL)
        # It may write more than a pipe holds before it reads on.
        _, told = running.communicate(20 * 64 * f"{json.dumps(RIGHT)}\n".encode(), timeout=60)
        assert b"was killed, perhaps by lack of memory" in told
        assert running.wait(60) == 1


@pytest.mark.skipif(os.name == "nt", reason="no process groups")
def test_control_c_ends_it_without_a_traceback(folder: Path) -> None:
    with scoring(folder) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        for _ in range(20):
            running.stdin.write("".join(f"{json.dumps(RIGHT)}\n" for _ in range(64)).encode())
        running.stdin.flush()
        running.stdout.readline()  # the work is under way
        os.killpg(running.pid, signal.SIGINT)
        running.stdout.read()
        assert running.stderr.read() == b""
        assert running.wait(60) == 130
