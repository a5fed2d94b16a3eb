from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_fcall.cli.history import run
from pytest_fcall.core import Outcome
from pytest_fcall.reporting.result_json import results_to_json
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.tracking.run_file import RunFile, run_paths, runs_folder, write_run
from tests.integration.command import fcall_here
from tests.integration.conftest import Shop

MODEL = "openai:gpt-5.2"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def keep(
    folder: Path,
    day: int,
    right: int,
    *,
    model: str = MODEL,
    shard: tuple[int, int] | None = None,
    broken_off: bool = False,
    outcomes: Sequence[Outcome | None] = (None,) * 10,
) -> Path:
    """A run of ten cases in two categories."""
    results = tuple(
        Result(
            f"a::c{n}", f"c{n}", model, "passed" if n < right else "failed", ("simple", "parallel")[n % 2], outcome=o
        )
        for n, o in enumerate(outcomes)
    )
    path = runs_folder(folder) / f"202611{day:02}-090000-aaaa.json"
    started = f"2026-11-{day:02}T09:00:00+00:00"
    data = results_to_json(Results(results))
    write_run(path, RunFile(path.stem, started, data, (model,), shard=shard, broken_off=broken_off))
    return path


def history(folder: Path, *arguments: str) -> list[str]:
    done = fcall_here(folder, "history", *arguments, COLUMNS="100")
    assert (done.returncode, done.stderr) == (0, "")
    return [" ".join(line.split()) for line in done.stdout.splitlines()]


def test_accuracy_is_shown_from_run_to_run(folder: Path) -> None:
    for day, right in ((3, 10), (1, 6), (2, 8)):
        keep(folder, day, right)
    assert history(folder) == [
        "model category chart first last 95 % answers",
        f"{MODEL} all ▁▅█ 60.0 % 100.0 % [72, 100] 10",
        "▁ 60.0 %, █ 100.0 %, · no answer",
        "3 runs, from 2026-11-01 09:00 to 2026-11-03 09:00",
    ]


def test_categories_are_shown_on_demand(folder: Path) -> None:
    keep(folder, 1, 6)
    keep(folder, 2, 9)
    assert history(folder, "--categories")[1:4] == [
        f"{MODEL} all ▁▆ 60.0 % 90.0 % [60, 98] 10",
        "parallel ▁▅ 60.0 % 80.0 % [38, 96] 5",
        "simple ▁█ 60.0 % 100.0 % [57, 100] 5",
    ]


def test_a_model_that_no_run_has_is_told_with_those_that_they_have(folder: Path) -> None:
    keep(folder, 1, 6)
    done = fcall_here(folder, "history", "--model=nosuch")
    assert done.returncode == 2
    assert "--model: nosuch: no model is called so; the runs have " in done.stderr


def test_what_changed_since_the_baseline_is_shown_of_the_last_run(folder: Path) -> None:
    keep(folder, 1, 10, outcomes=[Outcome.REGRESSED] * 10)
    keep(folder, 2, 4, outcomes=[*Outcome, Outcome.UNDECIDED])
    assert history(folder)[-1] == (
        f"last run of {MODEL}: 1 regressed, 2 undecided, 1 flaky, 1 known failure, 1 fixed, 1 drifted, 1 edited, 1 new"
    )
    keep(folder, 3, 10, outcomes=[Outcome.OK] * 10)
    assert history(folder)[-1] == f"last run of {MODEL}: as in the baseline"


def test_the_last_runs_and_some_models_can_be_chosen(folder: Path) -> None:
    for day in range(1, 6):
        keep(folder, day, day)
    keep(folder, 6, 3, model="local:smollm2")
    lines = history(folder, "-n", "3", "--model", "openai:*")
    assert lines[1].startswith(f"{MODEL} all ▁█· 40.0 % 50.0 %")
    assert lines[-1] == "3 runs, from 2026-11-04 09:00 to 2026-11-06 09:00"


def test_parts_of_runs_are_left_out(folder: Path) -> None:
    keep(folder, 1, 5)
    keep(folder, 2, 0, shard=(1, 2))
    keep(folder, 3, 0, broken_off=True)
    assert history(folder)[-1] == "1 run, from 2026-11-01 09:00 to 2026-11-01 09:00"


def test_files_may_come_from_elsewhere(folder: Path) -> None:
    path = keep(folder, 1, 5)
    path = path.rename(folder / "from-ci.json")
    assert history(folder, str(path))[1].startswith(f"{MODEL} all █ 50.0 %")


def test_a_file_that_cannot_be_read_is_told_and_passed_over(folder: Path) -> None:
    keep(folder, 1, 5)
    bad = keep(folder, 2, 5)
    bad.write_text(bad.read_text().replace('"passed"', '"great"'))
    (runs_folder(folder) / "20261103.json").write_text("{")
    done = fcall_here(folder, "history")
    assert done.returncode == 0
    assert done.stderr.count(" run file: ") == 2
    assert "1 run," in done.stdout


def test_a_folder_of_artifacts_is_read_as_it_is(folder: Path) -> None:
    for day in (1, 2, 3):
        artifact = folder / f"artifacts/run {day}/.fcall/runs"
        artifact.mkdir(parents=True)
        keep(folder, day, 3 * day).rename(artifact / "run.json")
    (artifact / "again.json").write_bytes((artifact / "run.json").read_bytes())
    (artifact / "coverage.json").write_text('{"totals": {}}')
    (artifact / "cut.json").write_text('{"fcall_run": 1, ')
    keep(folder, 4, 0, shard=(1, 2)).rename(artifact / "shard.json")
    done = fcall_here(folder, "history", "artifacts")
    assert done.returncode == 0
    assert "3 runs, from 2026-11-01 09:00 to 2026-11-03 09:00" in done.stdout
    assert done.stderr.splitlines() == [
        "fcall history: artifacts/run 3/.fcall/runs/cut.json: not a run file: not JSON: "
        "Expecting property name enclosed in double quotes at character 18",
        "fcall history: 1 shard left out: `fcall merge` puts those of a run together",
        "fcall history: 1 JSON file passed over: no runs",
    ]


def test_a_folder_without_runs_is_told(folder: Path) -> None:
    (folder / "empty").mkdir()
    done = fcall_here(folder, "history", "empty")
    assert (done.returncode, done.stderr) == (1, "fcall history: no complete run with an answer is there\n")


def test_a_page_is_written(folder: Path) -> None:
    for day in (1, 2):
        keep(folder, day, 5 * day)
    (folder / "artifacts").mkdir()
    keep(folder, 3, 4).rename(folder / "artifacts/run.json")
    (folder / "artifacts/report.html").write_text("")
    (folder / "artifacts/broken.json").write_text("{")
    done = fcall_here(folder, "history", ".fcall/runs", "artifacts", "-o", "out/history.html")
    assert (done.returncode, done.stdout) == (0, "out/history.html\n")
    page = (folder / "out/history.html").read_text(encoding="utf-8")
    assert "<title>fcall: history of 3 runs</title>" in page
    assert "artifacts/broken.json: not a run file" in page
    assert "report of this run" not in page, "of two files in a folder it is not known whose report it is"
    (folder / "artifacts/broken.json").unlink()
    fcall_here(folder, "history", "artifacts", "-o", "out/history.html")
    page = (folder / "out/history.html").read_text(encoding="utf-8")
    assert '<a href="../artifacts/report.html">report of this run</a>' in page


def test_a_page_has_the_models_that_are_wanted_and_the_runs_that_have_them(folder: Path) -> None:
    keep(folder, 1, 5)
    keep(folder, 2, 5, model="local:smollm2")
    assert fcall_here(folder, "history", "--model", "openai:*", "-o", "h.html").returncode == 0
    page = (folder / "h.html").read_text(encoding="utf-8")
    assert "<title>fcall: history of 1 run</title>" in page
    assert "smollm2" not in page


def test_without_the_extra_the_page_names_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(folder, 1, 5)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit, match="2"):
        run(["-o", "h.html"])
    assert 'html needs jinja2: pip install "pytest-fcall[report]"' in capsys.readouterr().err


def test_a_page_says_what_changed_between_runs_of_pytest(weather: Shop) -> None:
    weather.ask()
    path = weather.pytester.path / "cases/weather.fc.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("Current weather", "Weather").replace("unit: fahrenheit", "unit: celsius"))
    weather.ask()
    assert fcall_here(weather.pytester.path, "history", "-o", "h.html").returncode == 0
    page = (weather.pytester.path / "h.html").read_text(encoding="utf-8")
    assert "<b>tools</b>: the description of get_weather changed (2 cases)" in page
    assert "<b>case files</b>: what is expected changed (1 case)" in page
    assert "1 wrong before, right now" in page


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-o", "history.md"], "-o: history.md: the history is a page: give it a name that ends in .html"),
        (["nowhere"], "no such file or folder: nowhere"),
    ],
)
def test_a_wrong_command_line_is_told(folder: Path, arguments: list[str], told: str) -> None:
    done = fcall_here(folder, "history", *arguments)
    assert done.returncode == 2
    assert told in done.stderr


def test_without_runs_it_says_how_to_get_one(folder: Path) -> None:
    done = fcall_here(folder, "history")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "fcall history: no complete run with an answer is recorded: run pytest first\n"


@pytest.mark.parametrize("number", ["0", "x", "1001", "-1"])
def test_what_is_no_number_of_runs_is_told(folder: Path, number: str) -> None:
    assert fcall_here(folder, "history", f"-n{number}").returncode == 2


def test_the_runs_of_pytest_are_its_history(weather: Shop) -> None:
    weather.ask()
    weather.ask("-k", "celsius")
    assert len(run_paths(weather.pytester.path)) == 2
    lines = history(weather.pytester.path)
    assert lines[1].startswith("python:echo:answer all")
    assert "50.0 % 100.0 %" in lines[1]
