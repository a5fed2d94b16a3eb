"""Cases that are asked several times."""

from __future__ import annotations

import json
from itertools import count

import pytest

from pytest_fcall.tracking.acceptance import read_stanzas
from tests.by_night import by_night
from tests.integration.exam import Exam, called
from tests.integration.mind import RIGHT, WORSE, WRONG, Mind
from tests.servers import chat, echo

CALL = "[{get_weather: {city: Oslo}}]"


def test_each_case_is_asked_so_often_and_is_one_test(mind: Mind) -> None:
    mind.cases("one", "two")

    result = mind.run("--fc-samples=5")

    result.assert_outcomes(passed=2)
    assert mind.asked() == {"one": 5, "two": 5}
    result.stdout.fnmatch_lines(
        [
            "10 answers to 2 cases: pass@1 100.0 %, pass@5 100.0 %, pass^5 100.0 %",
            "fcall: python:mind:answer 2/2 right *",
        ]
    )


def test_all_answers_must_be_right_unless_a_rule_says_otherwise(mind: Mind) -> None:
    mind.cases("one")
    mind.says_in_turn("one", RIGHT, RIGHT, WRONG, RIGHT, RIGHT)

    result = mind.run("--fc-samples=5")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "wrong_value: `city` is 'Rome', expected 'Oslo'",
            "  4 of 5 answers are right; all must be",
            "5 answers to 1 case: pass@1 80.0 %, pass@5 100.0 %, pass^5 0.0 %",
            "1 flaky:",
            "  cases/a.fc.yaml:?? one 4/5 80.0 % [[]38, 96]",
        ]
    )


@pytest.mark.parametrize(
    ("option", "passes"),
    [("5 rate>=0.8", True), ("5 rate >= 0.9", False), ("5 any", True), ("5 all", False), ("5", False)],
)
def test_a_rule_for_the_run_says_how_many_must_be_right(mind: Mind, option: str, passes: bool) -> None:
    mind.cases("one")
    mind.says_in_turn("one", WRONG, RIGHT, RIGHT, RIGHT, RIGHT)
    assert (mind.run(f"--fc-samples={option}").ret == 0) is passes


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("all", "1 of 3 answers is right; all must be"),
        ("rate>=0.5", "1 of 3 answers is right (rate>=0.5)"),
        ("any", "0 of 3 answers are right; one must be"),
    ],
)
def test_a_failure_says_how_many_are_right_and_how_many_must_be(mind: Mind, rule: str, said: str) -> None:
    mind.cases("one")
    mind.says_in_turn("one", WRONG, WRONG, WRONG if rule == "any" else RIGHT)
    mind.run(f"--fc-samples=3 {rule}").stdout.fnmatch_lines([f"  {said}"])


def test_a_case_says_for_itself_how_often_and_by_what_rule(mind: Mind) -> None:
    mind.shop.cases(
        f"""
        cases:
          - {{id: one, prompt: one, expect: {CALL}, samples: {{count: 4, rule: rate>=0.5}}}}
          - {{id: two, prompt: two, expect: {CALL}, samples: 2}}
          - {{id: three, prompt: three, expect: {CALL}}}
        """,
        "a.fc.yaml",
    )
    mind.says({"two": RIGHT, "three": RIGHT})
    mind.says_in_turn("one", RIGHT, WRONG)

    mind.run().assert_outcomes(passed=3)

    assert mind.asked() == {"one": 4, "two": 2, "three": 1}


def test_the_command_line_says_how_often_and_leaves_a_case_its_rule(mind: Mind) -> None:
    mind.shop.cases(f"cases: [{{id: one, prompt: one, expect: {CALL}, samples: {{count: 9, rule: any}}}}]", "a.fc.yaml")
    mind.says_in_turn("one", WRONG, WRONG, RIGHT)
    mind.run("--fc-samples=3").assert_outcomes(passed=1)
    assert mind.asked() == {"one": 3}


def test_the_configuration_may_say_it_too(mind: Mind) -> None:
    mind.cases("one")
    mind.shop.file("pytest.ini", "[pytest]\nfc_samples = 3\n")
    mind.run().assert_outcomes(passed=1)
    assert mind.asked() == {"one": 3}


def test_a_forbidden_call_is_excused_by_no_rate(mind: Mind) -> None:
    mind.cases("one", expect="{calls: [{get_weather: {city: Oslo}}], extra: allow, never: [get_weather: {city: Rome}]}")
    both = [*RIGHT, *WRONG]
    mind.says_in_turn("one", RIGHT, both, RIGHT)

    result = mind.run("--fc-samples=3 any")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["forbidden_call in *"])


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_samples_are_asked_ahead_kept_apart_and_replayed(exam: Exam, workers: str) -> None:
    exam.shop.cases(
        "cases:\n"
        + "".join(
            f"  - {{id: {city}, prompt: '{called(city)}', samples: {{count: 3, rule: rate>=0.3}},"
            f" expect: [{{get_weather: {{city: {city}}}}}]}}\n"
            for city in ("Oslo", "Rome")
        ),
        "exam.fc.yaml",
    )
    turns = count()
    exam.server.default = lambda asked: echo(asked) if next(turns) % 2 else chat("No idea.")

    first = exam.run(workers)

    assert len(exam.server.asked) == 6
    again = exam.run(workers, "--fc-replay")
    assert len(exam.server.asked) == 6
    assert again.parseoutcomes() == first.parseoutcomes()


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_other_counts_of_the_same_answer_are_nothing_to_review(mind: Mind, workers: str) -> None:
    mind.cases("one")
    mind.says_in_turn("one", RIGHT, RIGHT, WRONG, RIGHT, RIGHT)
    mind.run("--fc-samples=5 rate>=0.5", "--fc-accept")
    accepted = mind.baseline().read_bytes()
    mind.says_in_turn("one", RIGHT, WRONG, WRONG, RIGHT, RIGHT)

    again = mind.run("--fc-samples=5 rate>=0.5", "--fc-accept", workers)

    assert "accepted: 0 cases, 1 unchanged" in again.outlines
    assert mind.baseline().read_bytes() == accepted
    assert read_stanzas(mind.baseline())["one"].rate == (3, 5)


def test_answers_are_compared_as_rates_with_those_that_were_accepted(mind: Mind) -> None:
    mind.cases("one")
    mind.says_in_turn("one", RIGHT, RIGHT, WRONG, RIGHT, RIGHT)
    mind.run("--fc-samples=10", "--fc-accept=all")
    assert read_stanzas(mind.baseline())["one"].rate == (8, 10)

    mind.says_in_turn("one", RIGHT, WRONG, RIGHT, RIGHT, WRONG)
    mind.run("--fc-samples=10").assert_outcomes(xfailed=1)
    mind.says_in_turn("one", WRONG)
    gone = mind.run("--fc-samples=10")

    gone.assert_outcomes(failed=1)
    gone.stdout.fnmatch_lines(
        ["  regressed: 14/20 right before, 0/10 now *", "1 regressed:", "*0/1 right*1 regressed*"]
    )


def test_an_answer_that_is_wrong_in_a_new_way_is_no_known_failure(mind: Mind) -> None:
    mind.cases("one")
    mind.says_in_turn("one", WRONG)
    mind.run("--fc-samples=3", "--fc-accept=all")
    mind.says_in_turn("one", WORSE)
    mind.run("--fc-samples=3").assert_outcomes(failed=1)


@pytest.mark.nightly  # as the unit test of comparisons
def test_an_answer_that_is_wrong_in_a_new_way_makes_a_case_flaky_that_is_mostly_right(mind: Mind) -> None:
    mind.cases("one")
    mind.says_in_turn("one", RIGHT, RIGHT, WRONG)
    mind.run("--fc-samples=3", "--fc-accept=all")
    mind.says_in_turn("one", RIGHT, RIGHT, WORSE)
    mind.run("--fc-samples=3", "-rx").stdout.fnmatch_lines(["XFAIL *::one - flaky: 2/3 right before, *"])


def test_gates_count_flaky_cases_and_compare_rates(mind: Mind) -> None:
    mind.cases("one", "two")
    mind.says_in_turn("one", RIGHT, WRONG)

    result = mind.run("--fc-samples=4 any", "--fc-gate=flaky<=0", "--fc-gate=accuracy>=1")

    assert result.ret == 1
    result.stdout.fnmatch_lines(["gate flaky<=0 * 1  does not hold", "gate accuracy>=1 *holds"])


def test_tokens_of_all_answers_are_counted(exam: Exam) -> None:
    exam.cities("Oslo")
    result = exam.run("--fc-samples=3")
    result.stdout.fnmatch_lines(["fcall: openai:exam 1/1 right *, 90 tokens, 3 asked"])


def test_a_dry_run_counts_all_answers(exam: Exam) -> None:
    exam.cities("Oslo", "Rome")
    exam.run("--fc-samples=3", "--fc-dry-run").stdout.fnmatch_lines(["fcall: 6 requests would be sent*"])
    assert not exam.server.asked


def test_junit_tells_how_many_were_right(mind: Mind) -> None:
    mind.cases("one")
    mind.says_in_turn("one", RIGHT, WRONG)
    mind.run("--fc-samples=4", "--junit-xml=junit.xml")
    assert '<property name="fcall_samples" value="2/4"' in (mind.path / "junit.xml").read_text("utf-8")


@pytest.mark.parametrize("said", ["0", "auto", "many", "5 most", "-3", "5.5", "5 rate>=2"])
def test_what_says_no_number_is_told(mind: Mind, said: str) -> None:
    mind.cases("one")
    result = mind.run(f"--fc-samples={said}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--fc-samples: '{said}' must be a positive integer, and may have a rule*"])


def test_a_run_file_keeps_how_many_were_right(mind: Mind) -> None:
    mind.cases("one")
    mind.says_in_turn("one", RIGHT, WRONG)
    mind.run("--fc-samples=4")
    (path,) = (mind.path / ".fcall" / "runs").glob("*.json")
    (result,) = json.loads(path.read_text("utf-8"))["results"]["results"]
    assert result["samples"] == [2, 4]
