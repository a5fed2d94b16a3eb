"""A reply that was paid for is kept, whatever becomes of the run; and no more is asked than is needed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import pytest

from tests.by_night import by_night
from tests.integration.conftest import QUIET, Shop
from tests.integration.exam import Exam, called, most_at_a_time, prompt_of, towns
from tests.servers import Answer, Asked, Server, chat, echo, silent

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes and signals of POSIX")

if sys.platform != "win32":
    from tests.forked import Run


def started(exam: Exam, *args: str, largest_file: int | None = None) -> Run:
    return Run(exam.path, [*QUIET, exam.model, *args], largest_file=largest_file)


def soon(asked: Asked) -> Answer:
    return replace(echo(asked), latency=0.002)


@pytest.fixture
def ended() -> Iterator[list[Run]]:
    """Runs that must not outlive the test."""
    runs: list[Run] = []
    yield runs
    for run in runs:
        run.process.kill()
        run.process.join()


@pytest.mark.parametrize("times", [2, by_night(20)])
def test_kill_9_loses_nothing_and_the_next_run_asks_only_for_the_rest(shop: Shop, ended: list[Run], times: int) -> None:
    random = Random(20261121)  # noqa: S311  a failure must come again
    cities = towns(500)
    kept: set[str] = set()
    proven = 0
    for _ in range(times):
        with Server(soon) as server:
            exam = Exam(shop, server)
            exam.cities(*cities)
            run = started(exam, "--fc-concurrency=8")
            ended.append(run)
            server.wait_for(random.randint(1, len(cities) - len(kept)))
            run.process.kill()
            run.process.join()
        answers = {prompt_of(asked): asked.answered for asked in server.asked if asked.answered}
        # With eight under way, the last eight may lie unread where the process had to wait for its CPU.
        alive = sorted(answers.values())[:-8][-1:]
        arrived = {prompt for prompt, answered in answers.items() if alive and answered < alive[0] - 0.05}
        now = exam.kept()
        assert kept | arrived <= now
        assert kept.isdisjoint(exam.asked())
        proven += len(arrived)
        kept = now
        if len(kept) > 0.6 * len(cities):
            shutil.rmtree(exam.path / ".fcall")
            kept = set()
    assert proven > 25 * times


def test_after_kill_9_the_next_run_is_as_if_nothing_had_happened(exam: Exam, ended: list[Run]) -> None:
    exam.cities(*towns(60))
    exam.server.default = soon
    run = started(exam, "--fc-concurrency=4")
    ended.append(run)
    exam.server.wait_for(25)
    run.process.kill()
    run.process.join()
    kept = exam.kept()
    asked = len(exam.server.asked)
    result = exam.run()
    result.assert_outcomes(passed=60)
    assert set(exam.asked()[asked:]) == set(map(called, towns(60))) - kept
    assert exam.kept() == set(map(called, towns(60)))


@pytest.mark.parametrize(
    ("workers", "answered", "interrupt"),
    [
        ("-n0", [*range(20)], os.kill),
        ("-n0", [*range(20)], os.killpg),
        ("-n2", [*range(10), *range(30, 40)], os.killpg),
    ],
)
def test_ctrl_c_keeps_what_arrived_and_waits_for_nothing(
    exam: Exam, ended: list[Run], workers: str, answered: list[int], interrupt: Callable[[int, int], None]
) -> None:
    cities = towns(60)
    exam.cities(*cities)
    arriving = {called(cities[number]) for number in answered}
    exam.server.default = lambda asked: echo(asked) if prompt_of(asked) in arriving else silent()
    run = started(exam, "--fc-concurrency=30", workers)
    ended.append(run)
    exam.server.wait_for(50)
    run.has_written("." * 20)
    run.interrupt(interrupt)
    assert run.ended() == pytest.ExitCode.INTERRUPTED, run.output
    assert exam.kept() == arriving
    assert "INTERNALERROR" not in run.output
    assert "Traceback" not in run.output


def test_two_runs_at_once_disturb_each_other_in_nothing(exam: Exam, ended: list[Run]) -> None:
    exam.cities(*towns(50))
    with exam.answered_from(16):
        ended += [started(exam, "--fc-concurrency=8"), started(exam, "--fc-concurrency=8")]
    assert [run.ended() for run in ended] == [0, 0]
    assert exam.kept() == set(map(called, towns(50)))
    exam.run("--fc-replay").assert_outcomes(passed=50)


def test_a_full_disk_is_told_in_one_line_and_what_was_kept_before_is_whole(exam: Exam, ended: list[Run]) -> None:
    exam.cities(*towns(20))
    exam.run().assert_outcomes(passed=20)
    before = exam.kept()
    exam.cities(*towns(120))
    run = started(exam, "-rN", "--fc-concurrency=8", largest_file=100_000)
    ended.append(run)
    assert run.ended() == 10
    assert f"openai:exam: recorded replies in {exam.path}/.fcall/replies.db: reading or writing failed" in run.output
    assert "Traceback" not in run.output
    kept = exam.kept()
    assert before < kept
    assert len(kept) < 120
    asked = len(exam.server.asked)
    assert asked < 20 + len(kept - before) + 2 * 16  # what cannot be kept is not asked for
    exam.run().assert_outcomes(passed=120)
    assert set(exam.asked()[asked:]) == set(map(called, towns(120))) - kept


@pytest.mark.parametrize(("args", "wrong", "most"), [(["-x"], 0, 17), (["-x"], 40, 57), (["--maxfail=2"], 10, 28)])
def test_where_the_first_failure_ends_the_run_little_is_asked_in_vain(
    exam: Exam, args: list[str], wrong: int, most: int
) -> None:
    cities = towns(200)
    exam.cities(*cities)
    right = {called(city) for city in cities[:wrong]}
    exam.server.default = lambda asked: echo(asked) if prompt_of(asked) in right else chat("No idea.")
    assert exam.run(*args).ret == 1
    assert wrong < len(exam.asked()) <= most
    assert exam.kept() <= set(exam.asked())


def test_ordinary_runs_ask_for_what_they_run_and_no_more(exam: Exam) -> None:
    exam.cities(*towns(30))
    exam.run("-k", "Town00").assert_outcomes(passed=10, deselected=20)
    exam.run("--collect-only")
    exam.run("cases/exam.fc.yaml::Town011").assert_outcomes(passed=1)
    assert sorted(exam.asked()) == sorted(map(called, [*towns(10), "Town011"]))


def test_a_skipped_case_is_not_asked(exam: Exam) -> None:
    exam.shop.cases(
        """
        cases:
          - {id: one, prompt: hello, expect: no_call, skip: not now}
          - {id: two, prompt: hello there, expect: no_call}
        """,
        "exam.fc.yaml",
    )
    exam.run().assert_outcomes(passed=1, skipped=1)
    assert exam.asked() == ["hello there"]


def test_what_a_hook_changes_is_asked_on_demand_as_it_was_changed(exam: Exam) -> None:
    exam.shop.pytester.makeconftest(
        """
        from dataclasses import replace

        def pytest_fcall_request(request):
            said = request.messages[-1]["content"].replace("Town", "City")
            return replace(request, messages=({"role": "user", "content": said},))
        """
    )
    exam.cities(*towns(10))
    exam.run().assert_outcomes(failed=10)
    changed = [called(city.replace("Town", "City")) for city in towns(10)]
    assert exam.asked() == changed
    assert most_at_a_time(exam.server.asked) == 1
    assert exam.kept() == set(changed)


def test_what_a_fixture_changes_is_asked_on_demand(exam: Exam) -> None:
    exam.shop.pytester.makeconftest(
        f"""
        import pytest

        @pytest.fixture
        def fc_model(fc_model):
            return "{exam.named("another")}"
        """
    )
    exam.cities("Paris", "Rome")
    exam.run().assert_outcomes(passed=2)
    assert [asked.json["model"] for asked in exam.server.asked] == ["another", "another"]


def test_what_is_asked_twice_within_a_run_is_asked_once(exam: Exam) -> None:
    exam.cities("Paris", "Rome")
    exam.shop.cases(
        f"""
        cases:
          - {{id: again, prompt: '{called("Paris")}', expect: [{{get_weather: {{city: Paris}}}}]}}
        """,
        "more.fc.yaml",
    )
    with exam.answered_from(2):
        exam.run().assert_outcomes(passed=3)
    assert sorted(exam.asked()) == [called("Paris"), called("Rome")]
