from __future__ import annotations

import pytest

from pytest_fcall.tracking.run_file import run_paths
from tests.by_night import by_night
from tests.integration.command import fcall
from tests.integration.conftest import Shop
from tests.integration.exam import Exam, weather_in
from tests.integration.mind import RIGHT, WRONG, Mind, lines_with
from tests.servers import Answer

FORBIDDEN = "failed: a forbidden call was made, which no gate excuses"


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_a_gate_that_holds_makes_a_run_good_though_a_case_failed(weather: Shop, workers: str) -> None:
    result = weather.ask("--fc-gate=accuracy>=50%", workers)
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["fcall: *1/2 right*", "gate accuracy>=50%  50.0 %  holds"])


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_a_gate_that_does_not_hold_makes_it_fail(weather: Shop, workers: str) -> None:
    result = weather.ask("--fc-gate=accuracy>=0.4 and accuracy[smoke]>=1", "--fc-gate=cases>=3", workers)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "gate accuracy>=0.4        50.0 %  holds",
            "gate accuracy[[]smoke]>=1  100.0 %  holds",
            "gate cases>=3                  2  does not hold",
        ]
    )


def test_the_help_shows_gates_as_they_are_written(shop: Shop) -> None:
    shown = " ".join(shop.run("--help").stdout.str().split())
    assert "such as 'accuracy>=0.9' or 'accuracy[parallel]>=80% and cost<=$2'" in shown
    assert "option_strings" not in shown


def test_gates_may_be_about_a_category_a_tag_or_a_model(weather: Shop) -> None:
    other = "python:echo:answer_async"
    result = weather.ask(
        f"--fc-model={other}",
        f"--fc-gate=cases[simple]==4 and cases[smoke]==2 and cases[{other}]==2 and cases[{other},smoke]==1",
        "--fc-gate=accuracy[smok]>=1",
    )
    assert result.ret == 10
    unknown = "no case has the tag, category, suite or model `smok`; did you mean `smoke`[?]"
    result.stdout.fnmatch_lines([f"gate accuracy[[]smok[]]>=1 *inconclusive: {unknown}"])
    assert result.stdout.str().count("  holds") == 4


@pytest.mark.parametrize(
    "gate", ["flaky[{}]==0", "cost[{}]<=1", "malformed[{}]<=0", "cases[{}]<=3", "regressions[{}]<=0"]
)
@pytest.mark.parametrize(
    ("scope", "why"),
    [
        ("smok", "no case has the tag, category, suite or model `smok`; did you mean `smoke`?"),
        ("smoke,slow", "no case is `smoke` and `slow` at once"),
    ],
)
def test_a_gate_on_no_case_does_not_hold_by_that(shop: Shop, gate: str, scope: str, why: str) -> None:
    shop.cases(
        "cases:\n"
        "  - {id: one, prompt: hello, expect: no_call, tags: [smoke]}\n"
        "  - {id: two, prompt: hello, expect: no_call, tags: [slow]}\n"
    )
    result = shop.ask(f"--fc-gate={gate.format(scope)}")
    assert result.ret == 10
    (line,) = [line for line in result.outlines if line.startswith("gate ")]
    assert line.endswith(f"inconclusive: {why}")
    assert shop.ask(f"--fc-gate={gate.format('smoke')}").ret == (10 if gate.startswith(("cost", "regr")) else 0)


def test_where_replies_are_missing_a_gate_is_inconclusive(exam: Exam) -> None:
    exam.cities("Oslo", "Rome", "Bern")
    echo = exam.server.default
    exam.server.default = lambda asked: Answer(status=500) if "Rome" in str(asked.json) else echo(asked)
    result = exam.run("--fc-gate=accuracy>=0.5", "--fc-gate=malformed<=0")
    assert result.ret == 10
    result.stdout.fnmatch_lines(
        ["gate accuracy>=0.5  100.0 %  inconclusive: 1 reply missing", "gate malformed<=0 *inconclusive*"]
    )


def test_what_is_not_recorded_is_missing_too(exam: Exam) -> None:
    exam.cities("Oslo")
    result = exam.shop.run("-o", f"fc_model={exam.named('exam')}", "--fc-gate=accuracy>=0.5")
    result.assert_outcomes(skipped=1)
    assert result.ret == 10
    result.stdout.fnmatch_lines(["gate accuracy>=0.5  -  inconclusive: 1 reply missing"])


def test_an_ordinary_test_still_fails_a_run_whose_gates_hold(weather: Shop) -> None:
    weather.pytester.makepyfile(test_plain="def test_sum(): assert 1 + 1 == 3")
    result = weather.ask("--fc-gate=accuracy>=0.5")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["gate accuracy>=0.5  50.0 %  holds"])
    assert result.ret == 1


@pytest.mark.parametrize(
    "entry",
    [
        "{id: typo, prompt: hello, expect: [{get_wether: {}}]}",
        "{id: late, prompt: hello, expect: no_call}",
    ],
)
def test_so_does_what_is_wrong_in_a_case_or_around_it(weather: Shop, entry: str) -> None:
    weather.cases(f"cases: [{entry}]", "other.fc.yaml")
    weather.pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(autouse=True)
        def room(request):
            yield
            assert "late" not in request.node.name
        """
    )
    assert weather.ask("--fc-gate=accuracy>=0.5").ret == 1


def test_what_another_plugin_finds_wrong_is_not_excused(weather: Shop) -> None:
    weather.pytester.makeconftest(
        """
        import pytest

        @pytest.hookimpl(wrapper=True)
        def pytest_runtestloop(session):
            result = yield
            session.testsfailed += 1  # as pytest-cov does where too little is covered
            return result
        """
    )
    assert weather.ask("--fc-gate=accuracy>=0.5").ret == 1


def test_a_gate_on_no_cases_at_all_is_judged_too(shop: Shop) -> None:
    shop.pytester.makepyfile(test_plain="def test_nothing(): pass")
    result = shop.run("--fc-gate=cases>=1")
    result.stdout.fnmatch_lines(["gate cases>=1  0  does not hold"])
    assert result.ret == 1


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_a_run_that_was_broken_off_is_not_judged(weather: Shop, workers: str) -> None:
    weather.cases(weather_in(f"Town{n}" for n in range(9)), "zz.fc.yaml")
    result = weather.ask("-x", "--fc-gate=accuracy>=0.1", workers)
    assert result.ret in (1, 2)
    result.stdout.fnmatch_lines(["gates are not judged: the run was broken off"])


@pytest.mark.parametrize("option", ["--collect-only", "--fc-dry-run"])
def test_where_nothing_runs_no_gate_is_judged(weather: Shop, option: str) -> None:
    result = weather.ask("--fc-gate=cases>=5", option)
    assert result.ret == 0
    result.stdout.no_fnmatch_line("gate*")


def test_quiet_runs_tell_of_the_gates_that_do_not_hold(weather: Shop) -> None:
    result = weather.ask("-q", "--fc-gate=accuracy>=0.5", "--fc-gate=cases>=3")
    assert [line for line in result.outlines if line.startswith("gate")] == ["gate cases>=3  2  does not hold"]


def test_what_is_no_gate_is_a_usage_error_that_points(weather: Shop) -> None:
    result = weather.ask("--fc-gate=accuracy>=0.5 and latency<=5s")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: --fc-gate: unknown figure 'latency'; did you mean `p95`?",
            "  accuracy>=0.5 and latency<=5s",
            "                    ^",
        ]
    )


def test_a_known_failure_does_not_make_a_run_fail_but_counts_in_its_gates(shop: Shop) -> None:
    shop.cases("cases: [{id: a, prompt: Hello, expect: any_call, xfail: it is shy}]")
    result = shop.ask("--fc-gate=accuracy>=0.5")
    result.assert_outcomes(xfailed=1)
    assert result.ret == 1


def test_no_gate_excuses_a_forbidden_call(shop: Shop) -> None:
    shop.cases(
        """
        cases:
          - id: safe
            prompt: '[{"name": "get_weather", "arguments": {"city": "Oslo"}}]'
            expect: {any_of: [no_call], never: [get_weather]}
        """
    )
    result = shop.ask("--fc-gate=cases>=1")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["gate cases>=1  1  holds", FORBIDDEN])
    shop.ask("--fc-gate=cases>=1", "--fc-shard=1/1")
    (share,) = (str(path) for path in run_paths(shop.pytester.path) if "of" in path.stem)
    done = fcall(shop.pytester.path, "merge", share)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, FORBIDDEN)


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_gates_may_be_about_what_changed_since_the_baseline(mind: Mind, workers: str) -> None:
    ids = [f"c{number}" for number in range(10)]
    mind.cases(*ids)
    mind.says({"c0": WRONG})
    gates = ["--fc-gate=regressions<=50% and fixed<=0", "--fc-gate=significant(0.05)", "--fc-gate=regressions<=1"]
    once = [*gates, "--fc-confirm=0", workers]

    first = mind.run(*once)
    assert first.ret == 10
    first.stdout.fnmatch_lines(["gate regressions<=50% * -  inconclusive: no baseline to compare with"])

    mind.run("--fc-accept=all")
    assert mind.run(*once).ret == 0

    mind.says({"c0": RIGHT, **dict.fromkeys(ids[1:6], WRONG)})
    last = mind.run(*once)
    assert last.ret == 1
    last.stdout.fnmatch_lines(
        [
            "gate regressions<=50%      50.0 %  holds",
            "gate fixed<=0                   1  does not hold",
            "gate significant(0.05) *does not hold: python:mind:answer 90.0 % → 50.0 % right, 10 cases, p = *",
            "gate regressions<=1             5  does not hold",
        ]
    )


def test_a_test_counts_all_answers_that_were_measured_before(mind: Mind) -> None:
    ids = [f"c{number}" for number in range(4)]
    gate = ["--fc-gate=significant(0.05)", "--fc-confirm=0"]
    mind.cases(*ids)
    mind.run("--fc-accept")
    blind = mind.run(*gate)
    assert blind.ret == 10
    assert lines_with(blind, "gate ") == [
        "gate significant(0.05)  p = 1.000  inconclusive: with 4 cases it could not fail, even if all were wrong"
    ]
    seeing = mind.run(*gate)  # each case has been answered twice now
    assert seeing.ret == 0
    assert lines_with(seeing, "gate ") == [
        "gate significant(0.05)  p = 1.000  holds: sees a drop of 75 points or more with 4 cases"
    ]


def test_failures_that_an_edit_mends_do_not_pay_for_what_regressed(mind: Mind) -> None:
    mended, lost = [f"m{number}" for number in range(9)], [f"c{number}" for number in range(6)]
    mind.cases(*mended, name="b.fc.yaml")
    mind.cases(*lost)
    mind.says(dict.fromkeys(mended, WRONG))
    mind.run("--fc-accept=all")

    mind.cases(*mended, name="b.fc.yaml", expect="[{get_weather: {city: Rome}}]")
    mind.says({**dict.fromkeys(mended, WRONG), **dict.fromkeys(lost, WRONG)})
    result = mind.run("--fc-gate=significant(0.05)", "--fc-confirm=0")

    assert result.ret == 1
    (line,) = lines_with(result, "gate ")
    assert "does not hold: python:mind:answer 100.0 % → 0.0 % right, 6 cases, p = 0.016; 9 " in line
    assert line.endswith(" left out")


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_no_model_pays_for_another(mind: Mind, workers: str) -> None:
    mind.shop.file(
        "two.py",
        """
        from pathlib import Path

        def says(right):
            return [{"name": "get_weather", "arguments": {"city": "Oslo" if right else "Rome"}}]

        def better(request):
            return says(Path(__file__).with_name("later").exists())

        def worse(request):
            return says(not Path(__file__).with_name("later").exists())
        """,
    )
    mind.cases(*(f"c{number}" for number in range(9)))
    models = ["--fc-model=python:two:better", "--fc-model=python:two:worse", "--fc-confirm=0", workers]
    mind.shop.run(*models, "--fc-accept=all")
    mind.shop.file("later", "")
    result = mind.shop.run(*models, "--fc-gate=significant(0.05) and significant(0.05, by=category)")
    assert result.ret == 1
    first, second = lines_with(result, "gate ")
    assert first.endswith("does not hold: python:two:worse 100.0 % → 0.0 % right, 9 cases, p = 0.004")
    assert second.endswith("does not hold: simple of python:two:worse 100.0 % → 0.0 % right, 9 cases, p = 0.004")
    assert len(lines_with(result, " is worse: ")) == 1


def test_a_test_by_something_unknown_is_a_usage_error_that_points(weather: Shop) -> None:
    result = weather.ask("--fc-gate=significant(0.05, by=modle)")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: --fc-gate: a test by 'modle' is unknown; did you mean `model`?",
            "  significant(0.05, by=modle)",
            "                       ^",
        ]
    )
