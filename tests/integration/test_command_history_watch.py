from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.tracking.night_watch import watch_path
from pytest_fcall.tracking.run_file import run_paths
from tests.integration.command import fcall_here, run_pytest
from tests.integration.nights import MODEL, keep_night, keep_nights

RIGHT, FALLEN = "1" * 20, "1" * 10 + "0" * 10


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def watch(folder: Path, *arguments: str, status: int = 0) -> str:
    done = fcall_here(folder, "history", "--watch", *arguments, COLUMNS="80")
    assert (done.returncode, done.stderr) == (status, "")
    return done.stdout


def test_an_alarm_names_the_night_and_what_changed_then_and_exits_1_once(folder: Path) -> None:
    keep_nights(folder, range(1, 21), RIGHT)
    assert "no alarm" in watch(folder)
    keep_night(folder, 21, FALLEN, engine="fp_2", digests={"system": "s2"}, provenance={"commit": "b" * 40})
    first = watch(folder, status=1)
    assert first.splitlines()[0] == f"{MODEL}: 21 nights, 1 new, the last 2026-05-21 01:00"
    shown = first[first.index("ALARM") :]
    assert shown == (
        f"ALARM: {MODEL} is worse since 2026-05-21 01:00\n"
        "  raised on 2026-05-21 01:00, shown most plainly by the first night alone\n"
        "  before 100.0 % of 400 answers, since then 50.0 % of 20 answers\n"
        "  what changed with that night:\n"
        "    prompt: the system prompt changed (20 cases)\n"
        "    engine: fingerprint: 'fp_1' → 'fp_2' (20 cases)\n"
        "  10 cases fell:\n"
        + "".join(f"    cases/a.fc.yaml::c{place}  20/20 → 0/1\n" for place in range(10, 15))
        + "    and 5 more\n"
    )
    keep_night(folder, 22, FALLEN, engine="fp_2", digests={"system": "s2"})
    again = watch(folder)
    assert "raised on 2026-05-21 01:00, shown most plainly by the first 2 nights\n" in again
    assert "  known: `--acknowledge` restarts the watch" in again
    assert "since then 50.0 % of 40 answers" in again


def test_an_acknowledged_alarm_is_over_and_the_next_night_is_the_first(folder: Path) -> None:
    keep_nights(folder, range(1, 21), RIGHT)
    keep_nights(folder, range(21, 24), FALLEN)
    watch(folder, status=1)
    done = fcall_here(folder, "history", "--watch", "--acknowledge")
    assert (done.returncode, done.stderr) == (
        0,
        f"acknowledged: the watch over {MODEL} restarts with the next night\n",
    )
    keep_night(folder, 24, FALLEN)
    assert watch(folder) == (
        f"{MODEL}: 1 night, the last 2026-05-24 01:00\n"
        "evidence of a fall: 0.00; an alarm is raised at 20\n"
        "  ▁\n"
        "no alarm: the first night is what later ones are held against\n"
    )
    keep_nights(folder, range(25, 40), FALLEN)
    assert "no alarm" in watch(folder)
    keep_night(folder, 40, "0" * 20)
    assert "is worse since 2026-06-10 01:00" in watch(folder, status=1)


def test_a_rise_is_told_and_is_no_alarm(folder: Path) -> None:
    keep_nights(folder, range(1, 21), FALLEN)
    keep_nights(folder, range(21, 25), RIGHT)
    shown = watch(folder)
    assert f"{MODEL} is better since 2026-05-21 01:00" in shown
    assert "ALARM" not in shown
    assert "10 cases rose:" in shown


def test_replays_are_no_nights_and_are_told(folder: Path) -> None:
    keep_nights(folder, range(1, 6), RIGHT)
    watch(folder)
    keep_night(folder, 6, FALLEN, replayed=True)
    done = fcall_here(folder, "history", "--watch")
    assert done.returncode == 10
    assert done.stderr == "fcall history: 1 run without a new answer not judged: replays are no evidence\n"
    assert "5 nights, none new" in done.stdout


def test_a_night_without_an_answer_is_not_green(folder: Path) -> None:
    keep_nights(folder, range(1, 6), RIGHT)
    watch(folder)
    path = keep_night(folder, 6, FALLEN)
    path.write_text(path.read_text().replace('"passed"', '"error"').replace('"failed"', '"error"'))
    done = fcall_here(folder, "history", "--watch")
    assert (done.returncode, "none new" in done.stdout) == (10, True)
    assert done.stderr == "fcall history: 1 run without an answer left out: there is nothing to compare\n"
    keep_night(folder, 7, RIGHT)
    assert fcall_here(folder, "history", "--watch").returncode == 0


def test_a_run_that_comes_late_is_left_out_and_told(folder: Path) -> None:
    keep_nights(folder, range(1, 6), RIGHT)
    watch(folder)
    path = keep_night(folder, 3, FALLEN)
    path.write_text(path.read_text().replace(path.stem, "20260503-020000-0000"))
    path.rename(path.with_name("20260503-020000-0000.json"))
    keep_night(folder, 6, RIGHT)
    done = fcall_here(folder, "history", "--watch")
    assert (done.returncode, "6 nights, 1 new" in done.stdout) == (0, True)
    assert done.stderr == f"fcall history: {MODEL}: 1 run left out: that of 2026-05-05 01:00 was judged before\n"


def test_models_are_watched_one_by_one(folder: Path) -> None:
    for day in range(1, 25):
        keep_night(folder, day, RIGHT, model="local:a" if day % 2 else "local:b")
    keep_night(folder, 25, FALLEN, model="local:b")
    assert "ALARM" not in watch(folder, "--model", "*:a")
    shown = json.loads(watch(folder, "--json", status=1))["models"]
    assert [(each["model"], each["nights"], each["new_alarm"]) for each in shown] == [
        ("local:a", 12, False),
        ("local:b", 13, True),
    ]
    assert shown[1]["fall"]["since"] == "2026-05-25 01:00"
    assert shown[1]["fall"]["cases"][0] == {"case": "cases/a.fc.yaml::c10", "before": [12, 12], "after": [0, 1]}
    assert len(shown[1]["evidence"]) == 13


def test_the_level_is_that_of_a_false_alarm(folder: Path) -> None:
    keep_nights(folder, range(1, 21), RIGHT)
    keep_nights(folder, range(21, 23), "1" * 17 + "000")
    evidence = json.loads(watch(folder, "--json"))["models"][0]["evidence"][-1]
    assert 1 < evidence < 20
    watch_path(folder).unlink()
    assert "an alarm is raised at 2\n" in watch(folder, "--level", "50%", status=1)


def test_runs_may_come_from_elsewhere_and_files_may_go(folder: Path) -> None:
    keep_nights(folder, range(1, 21), RIGHT)
    artifacts = folder / "artifacts"
    (folder / ".fcall/runs").rename(artifacts)
    assert "20 nights" in watch(folder, "artifacts")
    for path in sorted(artifacts.iterdir())[:10]:
        path.unlink()
    path = keep_night(folder, 21, FALLEN)
    path.rename(artifacts / path.name)
    assert "21 nights, 1 new" in watch(folder, "artifacts", status=1)


def test_a_run_that_cannot_be_read_is_told_and_the_others_are_judged(folder: Path) -> None:
    keep_nights(folder, range(1, 4), RIGHT)
    run_paths(folder)[0].write_text("{")
    broken = run_paths(folder)[1]
    broken.write_text(broken.read_text().replace('\\"valid\\": true', '\\"valid\\": 7'))
    done = fcall_here(folder, "history", "--watch")
    assert done.returncode == 0
    assert "20260501-010000-0000.json: not a run file" in done.stderr
    assert f"{MODEL}: 1 night" in done.stdout


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"fcall_watch": 99, "models": {}}',
        '{"fcall_watch": 1, "models": {"m": 7}}',
        '{"fcall_watch": 1, "models": {"m": {"nights": 3, "judged": [], "best_fall": [0, "", ""]}}}',
        '{"fcall_watch": 1, "models": {"m": {"nights": 1, "judged": [["a", NaN, 0]]}}}',
        '{"fcall_watch": 1, "models": {"m": {"nights": 1, "judged": [["a", 1e999, 0]]}}}',
        '{"fcall_watch": 1, "models": {"m": {"nights": 2, "judged": [["b", 0, 0], ["a", 0, 0]]}}}',
        '{"fcall_watch": 1, "models": {"m": {"nights": 1, "judged": [["a", true, 0]]}}}',
        '{"fcall_watch": 1, "models": {"m": {"nights": 1e9, "judged": []}}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_watch_is_told_and_nothing_is_judged(folder: Path, content: str) -> None:
    keep_nights(folder, range(1, 3), RIGHT)
    watch_path(folder).write_text(content)
    done = fcall_here(folder, "history", "--watch")
    assert done.returncode == 2
    assert "watch.json" in done.stderr
    assert "without this file the watch restarts" in done.stderr
    assert watch_path(folder).read_text() == content


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--level", "5%"], "--level is an option of --watch"),
        (["--acknowledge"], "--acknowledge is an option of --watch"),
        (["--watch", "-o", "a.html"], "-o has no meaning with --watch"),
        (["--watch", "--level", "0%"], "must be a share such as 5% or 0.05, not '0%'"),
        (["--watch", "--level", "many"], "must be a share such as 5% or 0.05, not 'many'"),
    ],
)
def test_wrong_command_lines_are_refused(folder: Path, arguments: list[str], message: str) -> None:
    done = fcall_here(folder, "history", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_without_runs_there_is_nothing_to_watch(folder: Path) -> None:
    done = fcall_here(folder, "history", "--watch")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing to watch" in done.stderr


def test_runs_of_pytest_are_nights(folder: Path) -> None:
    tool = "{name: pay, parameters: {type: object, properties: {to: {type: string}}, required: [to]}}"
    cases = "".join(f"  - {{id: c{n}, prompt: Pay Ada {n}, expect: [{{pay: {{to: Ada}}}}]}}\n" for n in range(20))
    (folder / "pay.fc.yaml").write_text(f"tools: [{tool}]\ncases:\n{cases}")
    app = "def answer(request):\n    return [{'name': 'pay', 'arguments': {'to': 'NAME'}}]\n"
    (folder / "app.py").write_text(app.replace("NAME", "Ada"))
    for _ in range(2):
        assert run_pytest(folder, "-q", "--fc-model=python:app:answer").returncode == 0
    assert "2 nights" in watch(folder)
    (folder / "app.py").write_text(app.replace("NAME", "Bob"))
    assert run_pytest(folder, "-q", "--fc-model=python:app:answer").returncode == 1
    assert "20 cases fell" in watch(folder, status=1)
