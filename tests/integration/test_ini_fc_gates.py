from __future__ import annotations

import pytest

from tests.integration.conftest import Shop

GATES = """
[pytest]
fc_gates =
    accuracy >= 0.5
    cases >= 3
"""


def test_gates_of_the_configuration_hold_beside_those_of_the_command_line(weather: Shop) -> None:
    weather.pytester.makeini(GATES)
    result = weather.ask("--fc-gate=accuracy[smoke] == 1")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["gate accuracy >= 0.5 *holds", "gate cases >= 3 *does not hold", "gate accuracy[[]smoke] == 1 *holds"]
    )


def test_a_run_without_cases_is_not_judged_by_them(weather: Shop) -> None:
    weather.pytester.makeini(GATES)
    weather.pytester.makepyfile(test_plain="def test_nothing(): pass")
    result = weather.run("test_plain.py")
    assert result.ret == 0
    result.stdout.no_fnmatch_line("gate*")


def test_what_is_no_gate_is_told_even_where_no_case_runs(weather: Shop) -> None:
    weather.pytester.makeini("[pytest]\nfc_gates = cases >= many\n")
    weather.pytester.makepyfile(test_plain="def test_nothing(): pass")
    result = weather.ask("test_plain.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: fc_gates: expected a number", "  cases >= many", "           ^"])
