"""An outage under pytest-xdist, where the run stops early."""

from __future__ import annotations

import pytest

from tests.integration.conftest import QUIET, Shop

INCONCLUSIVE = 10


@pytest.mark.parametrize("stop", ["-x", "--maxfail=2"])
def test_a_run_that_stops_at_outages_is_inconclusive_in_workers_too(weather: Shop, stop: str) -> None:
    result = weather.pytester.runpytest_subprocess(*QUIET, "--fc-model=python:echo:down", stop, "-n", "2")
    assert result.ret == INCONCLUSIVE
    result.stdout.fnmatch_lines(["*stopping after * failures*"])
    assert weather.run("--fc-model=python:echo:down", stop).ret == INCONCLUSIVE


def test_a_run_that_stops_at_a_failure_is_interrupted_as_pytest_xdist_has_it(weather: Shop) -> None:
    result = weather.pytester.runpytest_subprocess(*QUIET, "--fc-model=python:echo:answer", "-x", "-n", "2")
    assert result.ret == pytest.ExitCode.INTERRUPTED


@pytest.mark.nightly  # as one that stops at a failure
def test_a_run_that_was_interrupted_by_hand_is_not_inconclusive(weather: Shop) -> None:
    weather.pytester.makeconftest(
        """
        def pytest_runtest_logreport(report):
            if report.when == "teardown":
                raise KeyboardInterrupt
        """
    )
    result = weather.pytester.runpytest_subprocess(*QUIET, "--fc-model=python:echo:down", "-n", "2")
    assert result.ret == pytest.ExitCode.INTERRUPTED
