"""Whole runs of pytest, whose workers share one server."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.unit.backends.servers.asking import little, started

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes are watched as Linux has it")

TOOLS = "tools: [{name: get_weather, parameters: {type: object, properties: {city: {type: string}}}}]"
CASE = """
  - id: {0}
    prompt: '[{{"name": "get_weather", "arguments": {{"city": "{0}"}}}}]'
    expect: [{{get_weather: {{city: {0}}}}}]
"""
RUN = ("-p", "no:cacheprovider", "--fc-record=off")


def write(path: Path, command: str, cases: int = 12) -> None:
    text = "".join(CASE.format(f"town{number}") for number in range(cases))
    (path / "weather.fc.yaml").write_text(f"{TOOLS}\ncases:{text}", encoding="utf-8")
    (path / "pyproject.toml").write_text(
        f"[tool.fcall.models.little]\nmodel = 'openai:exam'\nserve = '''{command}'''\n", encoding="utf-8"
    )


def test_one_server_answers_a_whole_run_and_ends_with_it(pytester: pytest.Pytester) -> None:
    pids = pytester.path / "pids"
    write(pytester.path, little("--pids", pids))
    pytester.runpytest_subprocess(*RUN, "--fc-model=openai:little", "-n", "2").assert_outcomes(passed=12)
    [watched] = started(pids)
    assert all(process.ends() for process in watched)


@pytest.mark.nightly  # workers of pytest-xdist wait for five seconds; test_served kills who keeps a server
def test_it_ends_when_the_controller_is_killed_in_the_middle(pytester: pytest.Pytester) -> None:
    pids, gate = pytester.path / "pids", pytester.path / "gate"
    os.mkfifo(gate)
    write(pytester.path, little("--pids", pids, "--waits", gate))
    run = [sys.executable, "-m", "pytest", *RUN, "--fc-model=openai:little", "-n", "2"]
    with pytester.popen(run) as controller, gate.open("wb"):
        [watched] = started(pids)
        controller.kill()
        assert all(process.ends() for process in watched)


def test_a_server_that_fails_is_one_error_of_the_run(pytester: pytest.Pytester) -> None:
    write(pytester.path, little("--says", "CUDA out of memory"))
    result = pytester.runpytest(*RUN, "--fc-model=openai:little", "-rs")
    result.assert_outcomes(errors=1, skipped=11)
    assert result.ret == 10
    told = "openai:little: the server ended with status 3 before it was ready; end of its log: starting / CUDA out of*"
    result.stdout.fnmatch_lines([told])


def test_a_server_that_ended_by_itself_is_not_told_to_be_killed(pytester: pytest.Pytester) -> None:
    write(pytester.path, f'"{sys.executable}" -c "raise SystemExit(3)" {{port}}', cases=1)
    result = pytester.runpytest(*RUN, "--fc-model=openai:little")
    told = "openai:little: the server ended with status 3 before it was ready; its log is empty"
    assert told in result.stdout.lines


def test_what_is_recorded_or_only_planned_starts_no_server(pytester: pytest.Pytester) -> None:
    pids = pytester.path / "pids"
    write(pytester.path, little("--pids", pids))
    for how in ("--fc-dry-run", "--fc-replay"):
        pytester.runpytest(*RUN, "--fc-model=openai:little", how)
    assert not pids.exists()
