"""Under pytest-xdist."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Shop


@pytest.mark.nightly  # tests of baselines, gates and models have as much of workers
def test_workers_share_the_cases_and_the_controller_sums_up(weather: Shop) -> None:
    weather.file("cases/other.yaml", "prices: [1]\n")
    result = weather.pytester.runpytest_subprocess("--fc-model=python:echo:answer", "-n", "2")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*fcall: *python:echo:answer*", "*1 YAML file*without `cases:`*"])
    assert result.ret == 1


def test_models_and_faults_arrive_too(weather: Shop) -> None:
    weather.cases("cases: [{id: typo, prompt: hello, expect: [{get_wether: {}}]}]", "typo.fc.yaml")
    result = weather.pytester.runpytest_subprocess(
        "--fc-model=python:echo:answer", "--fc-model=python:echo:answer_async", "-n", "2"
    )
    result.assert_outcomes(passed=2, failed=2, errors=2)
    result.stdout.fnmatch_lines(["*python:echo:answer_async*"])
