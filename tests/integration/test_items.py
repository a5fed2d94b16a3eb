"""Cases are real pytest items: fixtures, marks, selection."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Shop
from tests.integration.exam import Exam


def test_fixtures_of_every_scope_from_conftest_reach_cases(weather: Shop) -> None:
    weather.pytester.makeconftest(
        """
        import pytest
        seen = []
        for scope in ("session", "package", "module", "class", "function"):
            def make(scope=scope):
                @pytest.fixture(scope=scope, autouse=True, name=f"auto_{scope}")
                def fixture():
                    seen.append(f"up {scope}")
                    yield
                    seen.append(f"down {scope}")
                return fixture
            globals()[f"auto_{scope}"] = make()

        def pytest_terminal_summary(terminalreporter):
            terminalreporter.line(" ".join(seen))
        """
    )
    result = weather.ask()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["up session up package up module up class up function down function*up function*down module down package*"]
    )


def test_cases_are_selected_by_keyword_and_by_tag(weather: Shop) -> None:
    weather.ask("-k", "celsius").assert_outcomes(passed=1, deselected=1)
    weather.ask("-m", "smoke").assert_outcomes(passed=1, deselected=1)
    weather.ask("cases/weather.fc.yaml::celsius").assert_outcomes(passed=1)


def test_tags_are_markers_that_strict_markers_knows(weather: Shop) -> None:
    weather.ask("--strict-markers").assert_outcomes(passed=1, failed=1)


def test_last_failed_runs_what_failed(weather: Shop) -> None:
    arguments = ["--fc-model=python:echo:answer"]
    weather.pytester.runpytest(*arguments).assert_outcomes(passed=1, failed=1)
    weather.pytester.runpytest(*arguments, "--lf").assert_outcomes(failed=1)
    result = weather.pytester.runpytest(*arguments, "--ff", "-v")
    result.stdout.fnmatch_lines(["*::fahrenheit FAILED*", "*::celsius PASSED*"])


def test_the_first_failure_stops_the_run(shop: Shop) -> None:
    shop.cases(
        """
        cases:
          - {id: one, prompt: hello, expect: any_call}
          - {id: two, prompt: hello, expect: any_call}
        """
    )
    shop.ask("-x").assert_outcomes(failed=1)


def test_collect_only_lists_node_ids(weather: Shop) -> None:
    result = weather.ask("--collect-only", "-q")
    result.stdout.fnmatch_lines(["cases/weather.fc.yaml::celsius", "cases/weather.fc.yaml::fahrenheit"])


def test_durations_name_cases(weather: Shop) -> None:
    weather.ask("--durations=5", "-vv").stdout.fnmatch_lines(["*s call * cases/weather.fc.yaml::celsius"])


def test_durations_name_the_time_until_the_model_has_answered(weather: Shop) -> None:
    weather.ask("--durations=0", "-vv").stdout.fnmatch_lines(["*s setup * cases/weather.fc.yaml::celsius"])


KEPT = """
import pytest

@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    kept = terminalreporter.stats.get("", [])
    print("kept:", *sorted(f"{report.nodeid.partition('::')[2]}-{report.when}" for report in kept))
"""


@pytest.mark.parametrize("workers", ["-n0", "-n1"])
def test_no_report_of_a_case_is_kept_that_prints_nothing(shop: Shop, workers: str) -> None:
    shop.cases(
        """
        cases:
          - {id: one, prompt: hello, expect: no_call}
          - {id: two, prompt: hello, expect: any_call}
          - {id: three, prompt: hello, expect: no_call}
        """
    )
    shop.file("later/test_plain.py", "def test_it(): pass")
    shop.pytester.makeconftest(KEPT)
    result = shop.ask("-s", workers)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["kept: test_it-setup test_it-teardown"])


def test_locations_lead_to_the_line_of_the_case(weather: Shop) -> None:
    items, _ = weather.pytester.inline_genitems("cases/weather.fc.yaml")
    lines = (weather.pytester.path / "cases/weather.fc.yaml").read_text(encoding="utf-8").splitlines()
    for item in items:
        _, line, name = item.reportinfo()
        assert line is not None
        assert f"id: {name}" in lines[line]


@pytest.mark.parametrize("how", ["skip", "xfail"])
def test_a_condition_counts_for_the_models_its_globs_name(shop: Shop, how: str) -> None:
    shop.cases(
        f"""
        cases:
          - id: excused
            prompt: hello
            {how}: [{{models: ["python:echo:*"], reason: it only echoes}}]
            expect: any_call
          - id: not_excused
            prompt: hello
            {how}: [{{models: ["openai:*"], reason: another model}}]
            expect: any_call
        """
    )
    result = shop.ask("-rsx")
    result.assert_outcomes(failed=1, **{"skipped" if how == "skip" else "xfailed": 1})
    result.stdout.fnmatch_lines(["*it only echoes*"])


def test_an_expected_failure_does_not_excuse_an_outage(shop: Shop) -> None:
    shop.cases("cases: [{id: excused, prompt: hello, xfail: never works, expect: any_call}]")
    shop.run("--fc-model=python:echo:down").assert_outcomes(errors=1)


def test_an_expected_failure_that_passes_is_reported_as_such(shop: Shop) -> None:
    shop.cases("cases: [{id: excused, prompt: hello, xfail: never works, expect: no_call}]")
    shop.ask().assert_outcomes(xpassed=1)
    shop.ask("-o", "xfail_strict=true").assert_outcomes(failed=1)


LEFT_OVER = """
import gc

import pytest

def pytest_collection_modifyitems(items):
    global all_items
    all_items = items

@pytest.hookimpl(trylast=True)
def pytest_unconfigure():
    print("listed:", [item.name for item in all_items])
    print("left:", [each.name for each in gc.get_objects() if isinstance(each, pytest.Item)])
"""


def test_cases_are_let_go_of_when_the_run_is_over(shop: Shop) -> None:
    shop.cases("cases: [{id: one, prompt: hello, expect: no_call}, {id: two, prompt: hello, expect: no_call}]")
    shop.pytester.makepyfile(test_plain="def test_plain(): pass")
    shop.pytester.makeconftest(LEFT_OVER)
    result = shop.pytester.runpytest_subprocess("--fc-model=python:echo:answer", "-s")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["listed: ['test_plain']", "left: ['test_plain']"])


def test_cases_that_were_asked_ahead_are_let_go_of_too(exam: Exam) -> None:
    exam.cities("Oslo", "Rome")
    exam.shop.pytester.makeconftest(LEFT_OVER)
    result = exam.apart("-s")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["listed: []", "left: []"])
