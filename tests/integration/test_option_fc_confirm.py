"""Asking again what seems to have regressed."""

from __future__ import annotations

import pytest

from tests.by_night import by_night
from tests.integration.exam import Exam
from tests.integration.mind import RIGHT, WRONG, Mind, Said, lines_with
from tests.servers import chat

ALONE, WORKERS = "-n0", "-n2"
MOST = 12
"""Most further answers to one case."""


@pytest.fixture
def accepted(mind: Mind) -> Mind:
    """Two cases that were right, and are accepted."""
    mind.cases("one", "two")
    mind.run("--fc-accept")
    mind.count_anew()
    return mind


@pytest.mark.parametrize("workers", [ALONE, by_night(WORKERS)])
def test_a_case_that_is_lost_is_asked_until_chance_does_not_explain_it(accepted: Mind, workers: str) -> None:
    accepted.says_in_turn("one", WRONG)

    result = accepted.run(workers)

    result.assert_outcomes(passed=1, failed=1)
    asked = accepted.asked()
    assert 3 < asked["one"] <= MOST
    assert asked["two"] == 1
    result.stdout.fnmatch_lines(
        [
            f"  0 of {asked['one']} answers are right (asked again)",
            f"  regressed: 1/1 right before, 0/{asked['one']} now (p = 0.00*)",
            "  baseline of *: calls[[]0].args.city: 'Oslo' → 'Rome'",
            "1 regressed:",
            "fcall: python:mind:answer 1/2 right *, 1 wrong, 1 regressed, *",
        ]
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("workers", [ALONE, by_night(WORKERS)])
def test_a_case_that_is_right_when_it_is_asked_again_is_flaky_and_fails_nothing(accepted: Mind, workers: str) -> None:
    accepted.says_in_turn("one", WRONG, *[RIGHT] * MOST)

    result = accepted.run(workers, "-rx", "--junit-xml=junit.xml")

    result.assert_outcomes(passed=1, xfailed=1)
    assert result.ret == pytest.ExitCode.OK
    asked = accepted.asked()["one"]
    assert 1 < asked < MOST
    result.stdout.fnmatch_lines(
        [
            "1 flaky:",
            f"  cases/a.fc.yaml:?? one {asked}/{asked + 1} *",
            f"XFAIL *::one - flaky: 1/1 right before, {asked - 1}/{asked} now (p = *",
        ]
    )
    result.stdout.no_fnmatch_line("*regressed*")
    properties = (accepted.path / "junit.xml").read_text("utf-8")
    assert '<property name="fcall_outcome" value="flaky"' in properties
    assert f'<property name="fcall_samples" value="{asked - 1}/{asked}"' in properties


def test_a_case_that_was_measured_wrong_now_and_then_is_flaky_without_asking(mind: Mind) -> None:
    mind.cases("one")
    mind.says_in_turn("one", RIGHT, WRONG, RIGHT, WRONG)
    mind.run("--fc-samples=4 any", "--fc-accept")
    mind.says_in_turn("one", WRONG, RIGHT)

    result = mind.run("--fc-confirm=0", "-rx")

    assert mind.asked() == {"one": 1}
    result.stdout.fnmatch_lines(["XFAIL *::one - flaky: 2/4 right before, 0/1 now (p = *"])
    assert result.ret == pytest.ExitCode.OK


def test_a_case_that_was_right_many_times_regresses_with_its_first_wrong_answer(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-samples=40", "--fc-accept")
    mind.says_in_turn("one", WRONG)

    mind.run().stdout.fnmatch_lines(["  regressed: 40/40 right before, 0/1 now (p = *", "1 regressed:"])

    assert mind.asked() == {"one": 1}


@pytest.mark.parametrize("workers", [ALONE, by_night(WORKERS)])
def test_without_a_budget_a_wrong_answer_is_undecided(accepted: Mind, workers: str) -> None:
    accepted.says_in_turn("one", WRONG)

    result = accepted.run("--fc-confirm=auto 0%", workers, "--junit-xml=junit.xml")

    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == 10
    assert accepted.asked() == {"one": 1, "two": 1}
    result.stdout.fnmatch_lines(
        [
            "  undecided: 1/1 right before, 0/1 now (p = 0.0*, decided at 0.0025)",
            "1 undecided:",
            "  cases/a.fc.yaml:?? one:",
            "      1/1 right before, 0/1 now (p = 0.0*, decided at 0.0025)",
            "      calls[[]0].args.city: 'Oslo' → 'Rome'",
            "fcall: python:mind:answer 1/2 right *, 1 wrong, 1 undecided, *",
        ]
    )
    result.stdout.no_fnmatch_line("*regressed*")
    assert '<property name="fcall_outcome" value="undecided"' in (accepted.path / "junit.xml").read_text("utf-8")


def test_answers_that_a_doubt_has_asked_for_are_no_runs_of_a_score(accepted: Mind) -> None:
    accepted.says_in_turn("one", WRONG)
    asked_again = accepted.run("-k", "one", "--fc-score=*: api_f1")
    asked_again.stdout.fnmatch_lines(["*tag *score *n *value*"])
    assert accepted.asked()["one"] > 1
    asked_again.stdout.no_fnmatch_line("*value *std*")


def test_another_failure_beside_an_undecided_case_fails_the_run(accepted: Mind) -> None:
    accepted.cases("one", "two", "three")
    accepted.says({"one": WRONG, "three": WRONG})
    result = accepted.run("--fc-confirm=auto 0%")
    result.assert_outcomes(passed=1, failed=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_doubts_of_one_run_are_continued_by_the_next(accepted: Mind) -> None:
    accepted.says_in_turn("one", WRONG)
    for _ in range(2):
        assert accepted.run("--fc-confirm=auto 0%").ret == 10

    result = accepted.run()

    asked = accepted.asked()["one"]
    assert 2 < asked <= MOST
    result.stdout.fnmatch_lines([f"  regressed: 1/1 right before, 0/{asked} now (p = 0.00*)"])


@pytest.mark.nightly  # as the next run counts them
def test_doubts_count_as_answers_of_an_unchanged_case_once_it_is_right_again(accepted: Mind) -> None:
    accepted.says_in_turn("one", WRONG)
    accepted.run("--fc-confirm=auto 0%")
    accepted.says_in_turn("one", RIGHT)
    accepted.run().assert_outcomes(passed=2)
    accepted.says_in_turn("one", WRONG)

    accepted.run("--fc-confirm=0", "-rx").stdout.fnmatch_lines(["XFAIL *::one - flaky: 2/3 right before, 0/1 now *"])


@pytest.mark.nightly  # workers have the budget of the run, below
@pytest.mark.parametrize(
    ("option", "further"),
    [("auto", 30), ("auto 100%", 40), ("auto 10%", 30), ("auto 0%", 0), ("0", 0)],
)
def test_a_run_asks_for_so_many_further_answers_in_all(mind: Mind, option: str, further: int) -> None:
    ids = [f"c{number}" for number in range(40)]
    mind.cases(*ids)
    mind.run("--fc-accept")
    mind.count_anew()
    mind.says(dict.fromkeys(ids[:7], WRONG))

    result = mind.run(f"--fc-confirm={option}")

    result.assert_outcomes(passed=33, failed=7)
    assert mind.asked().total() == 40 + further


def test_workers_share_the_budget(mind: Mind) -> None:
    ids = [f"c{number}" for number in range(16)]
    mind.cases(*ids[:8])
    mind.cases(*ids[8:], name="b.fc.yaml")
    mind.run("--fc-accept")
    mind.count_anew()
    mind.says(dict.fromkeys(ids, WRONG))

    result = mind.run(WORKERS, "--dist=loadfile")  # one that got a single case would not need all of its part

    result.assert_outcomes(failed=16)
    assert mind.asked().total() == 16 + 30


@pytest.mark.parametrize("said", [(WRONG,), by_night((WRONG, RIGHT, WRONG))])
def test_a_number_is_the_most_further_answers_to_each_case(accepted: Mind, said: tuple[Said, ...]) -> None:
    accepted.says_in_turn("one", *said)
    accepted.run("--fc-confirm=2")
    assert 1 < accepted.asked()["one"] <= 3


@pytest.mark.parametrize(("option", "asked"), [("--fc-confirm=0", 1), by_night("--fc-confirm=1", 2)])
def test_where_a_person_says_how_often_a_case_that_stays_wrong_has_regressed(
    accepted: Mind, option: str, asked: int
) -> None:
    accepted.says_in_turn("one", WRONG)

    result = accepted.run(option)

    assert accepted.asked() == {"one": asked, "two": 1}
    result.stdout.fnmatch_lines(["1 regressed:"])
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("before", [by_night((RIGHT,)), (WRONG,)])
def test_a_case_that_answers_as_it_did_is_asked_once(mind: Mind, before: tuple[Said]) -> None:
    mind.cases("one")
    mind.says_in_turn("one", *before)
    mind.run("--fc-accept=all")
    mind.count_anew()
    mind.run()
    assert mind.asked() == {"one": 1}


def test_without_a_baseline_nothing_is_asked_again(mind: Mind) -> None:
    mind.cases("one")
    mind.says_in_turn("one", WRONG)
    mind.run().assert_outcomes(failed=1)
    assert mind.asked() == {"one": 1}


def test_a_forbidden_call_is_not_asked_again(mind: Mind) -> None:
    mind.cases("one", expect="{calls: [{get_weather: {city: Oslo}}], never: [get_weather: {city: Rome}]}")
    mind.run("--fc-accept")
    mind.says_in_turn("one", WRONG, RIGHT)

    result = mind.run()

    assert mind.asked() == {"one": 1}
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["1 regressed:"])


def test_a_forbidden_call_among_further_answers_is_excused_by_no_right_one(mind: Mind) -> None:
    mind.cases("one", expect="{calls: [{get_weather: {city: Oslo}}], never: [get_weather: {city: Rome}]}")
    mind.run("--fc-accept")
    mind.says_in_turn("one", "nothing", WRONG, RIGHT)

    result = mind.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["forbidden_call: *", "1 regressed:"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.nightly  # as those that are asked once
def test_cases_that_are_asked_several_times_anyway_are_asked_again_too(accepted: Mind) -> None:
    accepted.says_in_turn("one", WRONG)

    result = accepted.run("--fc-samples=2")

    asked = accepted.asked()
    assert 2 < asked["one"] <= 2 + MOST
    assert asked["two"] == 2
    result.stdout.fnmatch_lines(["1 regressed:"])


@pytest.mark.nightly  # as where a run says how often
def test_where_a_rate_was_accepted_the_rates_are_compared(mind: Mind) -> None:
    mind.cases("one")
    mind.says_in_turn("one", RIGHT, RIGHT, RIGHT, WRONG)
    mind.run("--fc-samples=20 rate>=0.5", "--fc-accept")
    mind.says_in_turn("one", WRONG, RIGHT, WRONG, RIGHT)
    mind.run("--fc-samples=4 rate>=0.6").assert_outcomes(xfailed=1)
    mind.says_in_turn("one", WRONG)
    mind.run("--fc-samples=4 rate>=0.6").assert_outcomes(failed=1)


def test_the_first_failure_ends_a_run_that_is_asked_to_and_a_flaky_case_does_not(mind: Mind) -> None:
    mind.cases("one", "two", "three")
    mind.run("--fc-accept")
    mind.says_in_turn("one", WRONG, RIGHT)
    mind.says({"two": WRONG})

    result = mind.run("-x")

    result.assert_outcomes(xfailed=1, failed=1)
    assert mind.asked()["three"] == 0


def test_an_undecided_case_ends_such_a_run_too(accepted: Mind) -> None:
    accepted.says_in_turn("one", WRONG)

    result = accepted.run("-x", "--fc-confirm=auto 0%")

    result.assert_outcomes(failed=1)
    assert accepted.asked() == {"one": 1}
    assert lines_with(result, "1 undecided:")


class TestRecordings:
    """Where recordings answer, no model is asked, and so none again."""

    @pytest.fixture
    def recorded(self, exam: Exam, monkeypatch: pytest.MonkeyPatch) -> Exam:
        """A case that was right, whose answer is wrong since in one further recording."""
        monkeypatch.delenv("CI", raising=False)
        exam.cities("Oslo")
        exam.run("--fc-accept")
        exam.always(chat("No idea."))
        return exam

    def test_a_wrong_answer_regresses_a_case_at_once(self, recorded: Exam) -> None:
        recorded.run("--fc-record=all", "--fc-confirm=0")
        asked = len(recorded.server.asked)

        result = recorded.run("--fc-replay")

        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["  regressed: 1/1 right before, 0/1 now (p = 0.0*)", "1 regressed:"])
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert len(recorded.server.asked) == asked

    def test_what_was_asked_again_is_replayed_with_the_same_outcome(self, recorded: Exam) -> None:
        first = recorded.run("--fc-record=all")
        asked = len(recorded.server.asked)

        again = recorded.run("--fc-replay")

        assert len(recorded.server.asked) == asked
        assert again.parseoutcomes() == first.parseoutcomes()
        (line,) = lines_with(first, "regressed: 1/1 right before")
        assert lines_with(again, line.strip())


@pytest.mark.parametrize("workers", [ALONE, by_night(WORKERS)])
def test_an_app_that_asks_no_model_is_asked_again_in_a_plain_run_too(accepted: Mind, workers: str) -> None:
    accepted.shop.file("pytest.ini", f"[pytest]\nfc_model = {accepted.model}\n")
    accepted.says_in_turn("one", WRONG, *[RIGHT] * MOST)
    result = accepted.shop.run(workers)
    result.assert_outcomes(passed=1, xfailed=1)
    assert result.ret == pytest.ExitCode.OK
    accepted.says_in_turn("one", WRONG)
    lost = accepted.shop.run(workers)
    lost.stdout.fnmatch_lines(["1 regressed:"])
    assert accepted.asked()["one"] > 3


def test_the_configuration_may_say_it_too(accepted: Mind) -> None:
    accepted.shop.file("pytest.ini", "[pytest]\nfc_confirm = auto 0%\n")
    accepted.says_in_turn("one", WRONG)
    assert accepted.run().ret == 10
    assert accepted.asked() == {"one": 1, "two": 1}


@pytest.mark.parametrize("said", ["often", "-1", "10%"])
def test_anything_else_is_refused(mind: Mind, said: str) -> None:
    mind.cases("one")
    result = mind.run(f"--fc-confirm={said}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--fc-confirm: '{said}' must be auto, a number of further answers, 0 for none*"])


def test_a_wrong_answer_that_was_not_asked_again_counts_once_the_case_is_right_again(accepted: Mind) -> None:
    accepted.says({"one": WRONG})
    accepted.run("--fc-confirm=0").assert_outcomes(passed=1, failed=1)
    accepted.says({"one": RIGHT})
    accepted.run("--fc-accept").assert_outcomes(passed=2)

    assert '"asked":3' in accepted.measurement().read_text("utf-8")
    assert '"right":2' in accepted.measurement().read_text("utf-8")
