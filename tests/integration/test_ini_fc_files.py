"""ini `fc_files`, and which files are case files at all."""

from __future__ import annotations

import pytest

from tests.integration.conftest import WEATHER, Shop

ONE = WEATHER + "cases: [{id: one, prompt: hello, expect: no_call}]\n"


@pytest.mark.parametrize(
    "name",
    ["weather.fc.yaml", "deep/er/weather.fc.yml", "cases/weather.yaml", "cases/deep/weather.yml"],
)
def test_these_files_are_collected(shop: Shop, name: str) -> None:
    shop.file(name, ONE)
    shop.ask().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "name",
    ["weather.yaml", "other/cases/weather.yaml", "cases/weather.tools.yaml", "cases/__fcall__/weather.yaml"],
)
def test_these_files_are_not(shop: Shop, name: str) -> None:
    shop.file(name, ONE)
    assert shop.run().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_the_globs_can_be_changed(shop: Shop) -> None:
    shop.file("exams/weather.yaml", ONE)
    shop.file("cases/weather.yaml", ONE)
    result = shop.ask("-o", "fc_files=exams/*.yaml", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["exams/weather.yaml::one PASSED*"])


def test_yaml_without_cases_is_counted_and_left_alone(shop: Shop) -> None:
    shop.file("cases/weather.yaml", ONE)
    shop.file("cases/fixture.yaml", "prices: [1, 2]\n")
    result = shop.ask()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*1 YAML file*without `cases:`*"])


def test_yaml_without_cases_is_an_error_when_it_is_named(shop: Shop) -> None:
    shop.file("cases/fixture.yaml", "prices: [1, 2]\n")
    result = shop.ask("cases/fixture.yaml")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["cases/fixture.yaml:1:1: *cases*"])


def test_a_name_that_promises_cases_must_hold_some(shop: Shop) -> None:
    shop.file("cases/prices.fc.yaml", "prices: [1, 2]\n")
    shop.ask().assert_outcomes(errors=1)
