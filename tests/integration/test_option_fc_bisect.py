"""`--fc-bisect`: a run that finds out by itself which edit made its cases regress."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.tracking.run_file import read_run, run_paths
from tests.integration.command import fcall
from tests.integration.test_command_bisect import BRIEF, DESCRIBED, FILE, Clerk
from tests.servers import Server


@pytest.fixture
def clerk(tmp_path: Path, server: Server) -> Clerk:
    made = Clerk(tmp_path, server)
    made.accept()
    made.guilty = lambda system, _: "briefly" in system
    made.edit(BRIEF, DESCRIBED)
    return made


GUILTY = "bisected: system prompt, sentence 2: 'Answer briefly.' was added"


def test_the_summary_the_run_file_and_the_report_name_the_edit_beside_the_regression(clerk: Clerk) -> None:
    done = clerk.run("--fc-bisect=20", "--fc-report=report.md")
    assert done.returncode == 1
    assert done.stdout.count(GUILTY) == 2
    assert "bisected: found 1 edit in 2 cases, by " in done.stdout
    rows = read_run(run_paths(clerk.path)[-1]).results["results"]
    assert [row["bisected"] for row in rows] == [[GUILTY.removeprefix("bisected: ")]] * 2  # type: ignore[union-attr, index, call-overload]
    assert f"- {GUILTY} (2 cases)" in (clerk.path / "report.md").read_text()
    assert GUILTY in fcall(clerk.path, "show", "oslo").stdout


def test_a_budget_that_is_too_small_is_kept_to_and_told(clerk: Clerk) -> None:
    clerk.run()
    clerk.server.asked.clear()
    done = clerk.run("--fc-bisect=1")
    assert len(clerk.server.asked) <= 1
    assert "bisected: not decided" in done.stdout or "one or more of " in done.stdout


def test_a_replay_uses_recordings_alone(clerk: Clerk) -> None:
    clerk.run("--fc-bisect=20")
    clerk.server.asked.clear()
    done = clerk.run("--fc-replay", "--fc-bisect=20")
    assert clerk.server.asked == []
    assert done.stdout.count(GUILTY) == 2
    assert "by 0 requests" in done.stdout


def test_workers_leave_it_to_the_command(clerk: Clerk) -> None:
    done = clerk.run("--fc-bisect=20", "-p", "xdist", "-n", "1", FILE)
    assert "not bisected, as the workers of pytest-xdist hold the cases" in done.stdout


def test_a_green_run_searches_nothing_and_a_wrong_number_is_refused(clerk: Clerk) -> None:
    clerk.guilty = lambda *_: False
    assert "bisected" not in clerk.run("--fc-bisect=20").stdout
    refused = clerk.run("--fc-bisect=often")
    assert refused.returncode == 4
    assert "--fc-bisect: 'often' must be a positive integer" in refused.stderr
