"""What is measured of cases lies beside what a person accepted, and verdicts are held against it."""

from __future__ import annotations

import json

import pytest

from pytest_fcall.tracking.run_file import run_paths
from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.exam import Exam
from tests.integration.mind import OTHERWISE, RIGHT, WORSE, WRONG, Mind, Said, lines_with
from tests.servers import chat, echo

ALONE, WORKERS = "-n0", "-n2"
ONCE = "--fc-confirm=auto 0%"
"""Asks nothing again, and decides nothing that chance may explain."""


def changed(mind: Mind, old: str, new: str) -> None:
    """Change the case file."""
    path = mind.path / "cases" / "a.fc.yaml"
    before = path.read_text("utf-8")
    assert old in before
    path.write_text(before.replace(old, new), "utf-8")


class TestFile:
    """The measurement beside a baseline."""

    def test_it_has_all_cases_of_the_run_accepted_or_not(self, mind: Mind) -> None:
        mind.cases("one", "two")
        mind.says({"two": WRONG})

        mind.run("--fc-accept")

        assert '"two"' not in mind.baseline().read_text("utf-8")
        assert mind.measured() == {"one": (1, 1), "two": (0, 1)}

    def test_without_a_baseline_there_is_none(self, mind: Mind) -> None:
        mind.cases("one")
        mind.says({"one": WRONG})
        mind.run("--fc-accept")
        mind.run()
        assert not list(mind.path.rglob("*.measured.jsonl"))

    def test_only_accepting_writes_it(self, mind: Mind) -> None:
        mind.cases("one")
        mind.run("--fc-accept")
        before = mind.measurement().read_bytes()
        mind.run()
        assert mind.measurement().read_bytes() == before
        mind.run("--fc-accept")
        assert mind.measured() == {"one": (3, 3)}

    @pytest.mark.parametrize("workers", [ALONE, by_night(WORKERS)])
    def test_accepting_right_answers_again_and_again_hides_no_wrong_ones(self, mind: Mind, workers: str) -> None:
        mind.cases("one", "two")
        for said in (RIGHT, WRONG, RIGHT):
            mind.says({"one": said})
            mind.run("--fc-accept", ONCE, workers)
        assert mind.measured() == {"one": (2, 3), "two": (3, 3)}

    @pytest.mark.nightly  # as the unit test of measurements
    def test_accepting_the_same_run_twice_leaves_all_files_as_they_are(self, mind: Mind) -> None:
        mind.cases("one", "two")
        mind.says({"two": WRONG})
        mind.run()
        fcall_here(mind.path, "accept", "--failing", "two", "--because", "too hard")
        fcall_here(mind.path, "accept", "one")
        before = mind.files(), mind.measurement().read_bytes()

        fcall_here(mind.path, "accept", "one")
        fcall_here(mind.path, "accept")

        assert (mind.files(), mind.measurement().read_bytes()) == before
        assert mind.measured() == {"one": (1, 1), "two": (0, 1)}

    @pytest.mark.nightly  # as the unit test of measurements
    def test_accepting_one_case_measures_the_others_too(self, mind: Mind) -> None:
        mind.cases("one", "two")
        mind.run("--fc-accept")
        mind.says({"two": OTHERWISE})
        mind.run()

        fcall_here(mind.path, "accept", "one")

        assert mind.measured() == {"one": (2, 2), "two": (2, 2)}

    @pytest.mark.nightly  # as the unit test of measurements
    def test_an_older_run_that_is_accepted_counts_nothing_twice(self, mind: Mind) -> None:
        mind.cases("one")
        for _ in range(2):
            mind.run("--fc-accept")
        oldest = run_paths(mind.path)[0]

        fcall_here(mind.path, "accept", str(oldest))
        mind.run("--fc-accept")

        assert mind.measured() == {"one": (3, 3)}

    def test_a_case_that_is_removed_or_renamed_takes_its_line_along(self, mind: Mind) -> None:
        mind.cases("one", "two")
        mind.run("--fc-accept")
        mind.cases("one")
        mind.run("--fc-prune")
        assert mind.measured() == {"one": (1, 1)}
        fcall_here(mind.path, "mv", "one", "uno")
        assert mind.measured() == {"uno": (1, 1)}

    def test_a_damaged_one_costs_only_what_it_counted(self, mind: Mind) -> None:
        mind.cases("one", "two")
        mind.run("--fc-accept")
        lines = mind.measurement().read_text("utf-8").splitlines()
        of_one = next(line for line in lines if '"case":"one"' in line)
        damaged = ["<<<<<<< HEAD", of_one, "=======", '{"case": "one", "asked": -5}', ">>>>>>> other", "\0"]
        mind.measurement().write_text("\n".join(damaged), "utf-8")

        mind.run().assert_outcomes(passed=2)
        mind.run("--fc-accept").assert_outcomes(passed=2)

        counted = mind.measured()
        assert counted["one"] == (3, 3)
        assert [*counted] == ["one", "two"]

    @pytest.mark.nightly  # as the unit test of measurements
    def test_recordings_count_once(self, exam: Exam, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("CI", raising=False)
        exam.cities("Oslo")
        for _ in range(3):
            exam.run("--fc-accept")
        (path,) = exam.path.rglob("*.measured.jsonl")
        (line,) = (line for line in map(json.loads, path.read_text("utf-8").splitlines()) if "case" in line)
        assert (line["right"], line["asked"]) == (1, 1)

    def test_of_a_recording_that_is_asked_again_the_new_answers_count(
        self, exam: Exam, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("CI", raising=False)
        exam.cities("Oslo")
        exam.run("--fc-accept")
        exam.always(chat("No idea."))
        exam.run("--fc-record=all", ONCE)
        exam.server.default = echo

        exam.run("--fc-accept=all").assert_outcomes(xfailed=1)

        (path,) = exam.path.rglob("*.measured.jsonl")
        (line,) = (line for line in map(json.loads, path.read_text("utf-8").splitlines()) if "case" in line)
        further = len(exam.server.asked) - 2
        assert further > 0
        assert (line["right"], line["asked"]) == (1 + further, 2 + further)


class TestOutcomes:
    """What people see of each."""

    @pytest.mark.parametrize("workers", [ALONE, by_night(WORKERS)])
    def test_a_lost_case_regresses_stays_so_without_asking_and_is_ok_once_it_is_mended(
        self, mind: Mind, workers: str
    ) -> None:
        mind.cases("one", "two")
        mind.run("--fc-accept")
        mind.says_in_turn("one", WRONG)
        assert mind.run(workers).ret == pytest.ExitCode.TESTS_FAILED
        mind.count_anew()

        again = mind.run(workers)

        assert mind.asked() == {"one": 1, "two": 1}
        again.assert_outcomes(passed=1, failed=1)
        again.stdout.fnmatch_lines(["  regressed: 1/1 right before, 0/* now (p = *", "1 regressed:"])
        mind.says({"one": RIGHT})
        mended = mind.run(workers)
        mended.assert_outcomes(passed=2)
        mended.stdout.no_fnmatch_line("*flaky*")
        assert mended.ret == pytest.ExitCode.OK

    @pytest.mark.nightly  # as the unit test of measurements
    def test_answers_by_which_a_case_regressed_are_no_measure_of_it_once_it_is_mended(self, mind: Mind) -> None:
        mind.cases("one")
        mind.run("--fc-accept")
        mind.says({"one": WRONG})
        mind.run()
        mind.says({"one": RIGHT})
        mind.run("--fc-accept")
        assert mind.measured() == {"one": (2, 2)}

    def test_a_flaky_case_is_listed_with_all_its_answers(self, mind: Mind) -> None:
        mind.cases("one")
        mind.says_in_turn("one", RIGHT, WRONG, RIGHT, RIGHT)
        mind.run("--fc-samples=4 any", "--fc-accept")
        mind.says({"one": WRONG})

        result = mind.run(ONCE, "-rx")

        result.assert_outcomes(xfailed=1)
        assert result.ret == pytest.ExitCode.OK
        result.stdout.fnmatch_lines(
            [
                "1 flaky:",
                "  cases/a.fc.yaml:?? one 3/5 60.0 % *",
                "fcall: python:mind:answer 0/1 right *, 1 wrong (1 xfailed), *",
                "XFAIL *::one - flaky: 3/4 right before, 0/1 now (p = *",
            ]
        )

    def test_what_was_wrong_and_is_not_accepted_fails_until_it_is_fixed(self, mind: Mind) -> None:
        mind.cases("one", "two")
        mind.says({"two": WRONG})
        mind.run("--fc-accept")

        mind.run().assert_outcomes(passed=1, failed=1)
        mind.says({"two": RIGHT})
        mended = mind.run()

        mended.assert_outcomes(passed=2)
        assert lines_with(mended, "not in the baseline: 1 fixed")

    def test_a_failure_that_was_right_before_and_is_right_again_is_flaky(self, mind: Mind) -> None:
        mind.cases("one")
        mind.says_in_turn("one", RIGHT, WRONG)
        mind.run("--fc-samples=4", "--fc-accept=all")
        mind.says({"one": RIGHT})

        result = mind.run()

        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(["1 flaky:"])
        result.stdout.no_fnmatch_line("*fixed*")


CALLS_TOOLS = """
tools:
  - {name: get_weather, parameters: {type: object, properties: {city: {type: string}}}}
  - {name: search, parameters: {type: object, properties: {text: {type: string}}}}
  - {name: delete_all, parameters: {type: object, properties: {kind: {type: string}}}}
cases:
  - {id: one, prompt: one, expect: [{get_weather: {city: Oslo}}]}
"""


def search(text: str) -> Said:
    return [{"name": "search", "arguments": {"text": text}}]


def delete(kind: str) -> Said:
    return [{"name": "delete_all", "arguments": {"kind": kind}}]


class TestKnownFailures:
    """A known failure is one by its calls."""

    @pytest.fixture
    def known(self, mind: Mind) -> Mind:
        """A case whose failure to look up the weather is accepted: it searches instead."""
        mind.shop.file("cases/a.fc.yaml", CALLS_TOOLS)
        mind.says({"one": search("Oslo")})
        mind.run("--fc-accept=all").assert_outcomes(xfailed=0, passed=0, failed=1)
        mind.count_anew()
        return mind

    def test_another_text_to_look_for_is_the_same_failure(self, known: Mind) -> None:
        known.says({"one": search("weather in Oslo")})
        result = known.run("-rx")
        result.assert_outcomes(xfailed=1)
        result.stdout.fnmatch_lines(["XFAIL *::one - known failure since *"])
        assert known.asked() == {"one": 1}

    def test_a_failure_that_becomes_another_call_is_asked_again_and_fails(self, known: Mind) -> None:
        known.says({"one": delete("weather")})

        result = known.run("--junit-xml=junit.xml")

        result.assert_outcomes(failed=1)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert known.asked()["one"] > 1
        assert 'name="fcall_outcome" value="new"' in (known.path / "junit.xml").read_text("utf-8")
        result.stdout.fnmatch_lines(["  0 of * answers are right (asked again)"])

    def test_it_fails_where_nothing_is_asked_again_too(self, known: Mind) -> None:
        known.says({"one": delete("weather")})
        result = known.run("--fc-confirm=0")
        result.assert_outcomes(failed=1)
        assert result.ret == pytest.ExitCode.TESTS_FAILED

    @pytest.mark.nightly  # as the unit test of comparisons
    def test_a_further_answer_that_fails_as_before_excuses_it(self, known: Mind) -> None:
        known.says_in_turn("one", delete("weather"), search("Oslo"))
        known.run().assert_outcomes(xfailed=1)
        assert known.asked() == {"one": 2}

    def test_other_values_are_another_failure_of_a_tool_that_does_something(self, known: Mind) -> None:
        known.says({"one": delete("weather")})
        known.run("--fc-accept=all", ONCE)
        known.run(ONCE).assert_outcomes(xfailed=1)
        known.says({"one": delete("users")})
        known.run(ONCE).assert_outcomes(failed=1)

    @pytest.mark.nightly  # the same as above, of a case that was right before
    def test_a_regression_that_is_accepted_excuses_no_other_call(self, mind: Mind) -> None:
        mind.shop.file("cases/a.fc.yaml", CALLS_TOOLS)
        mind.says({"one": RIGHT})
        mind.run("--fc-accept")
        mind.says({"one": delete("weather")})
        mind.run("--fc-accept=all")
        mind.run().assert_outcomes(xfailed=1)

        mind.says({"one": delete("users")})

        mind.run().assert_outcomes(failed=1)


class TestEditedCases:
    """A case that a person edited is compared with nothing."""

    @pytest.fixture
    def accepted(self, mind: Mind) -> Mind:
        mind.cases("one", "two")
        mind.run("--fc-accept")
        mind.count_anew()
        return mind

    @pytest.mark.parametrize(("said", "outcome"), [by_night(RIGHT, "passed"), (WRONG, "failed")])
    def test_another_prompt_makes_an_edited_case(self, accepted: Mind, said: Said, outcome: str) -> None:
        changed(accepted, "prompt: one", "prompt: uno")
        accepted.says({"uno": said})

        result = accepted.run("--junit-xml=junit.xml", "-k", "one")

        result.assert_outcomes(**{outcome: 1})
        assert accepted.asked() == {"uno": 1}
        assert 'name="fcall_outcome" value="edited"' in (accepted.path / "junit.xml").read_text("utf-8")
        result.stdout.no_fnmatch_line("*regressed*")

    @pytest.mark.nightly  # as the unit test of comparisons
    def test_another_tool_leaves_the_case_the_same(self, accepted: Mind) -> None:
        changed(accepted, "Current weather of a city.", "The weather.")
        accepted.says({"one": WRONG})

        result = accepted.run()

        result.assert_outcomes(passed=1, failed=1)
        result.stdout.fnmatch_lines(
            ["1 regressed:", "changed since the baseline:", "  the description of get_weather*"]
        )

    @pytest.mark.nightly  # as the unit test of measurements
    def test_an_edited_case_is_measured_anew_once_it_is_accepted(self, accepted: Mind) -> None:
        changed(accepted, "prompt: one", "prompt: uno")
        accepted.says({"uno": RIGHT})
        accepted.run()
        accepted.run("--fc-accept")
        assert accepted.measured() == {"one": (1, 1), "two": (3, 3)}
        accepted.run("--junit-xml=junit.xml").assert_outcomes(passed=2)
        assert "edited" not in (accepted.path / "junit.xml").read_text("utf-8")


class TestWholeModel:
    """A model that is worse, though no case shows it."""

    @pytest.mark.parametrize("workers", [ALONE, by_night(WORKERS)])
    def test_many_cases_that_are_a_little_worse_make_the_run_red(self, mind: Mind, workers: str) -> None:
        ids = [f"c{number:02}" for number in range(30)]
        mind.cases(*ids)
        varying = ids[:15]
        for case in varying:
            mind.says_in_turn(case, RIGHT, WRONG, RIGHT, RIGHT, RIGHT)
        mind.run("--fc-samples=5 any", "--fc-accept")
        mind.says(dict.fromkeys(varying, WRONG))

        result = mind.run(workers, ONCE)

        result.stdout.fnmatch_lines(["python:mind:answer is worse: 15 of 30 answers right, 90.0 % before (p < 0.001)"])
        assert result.ret == pytest.ExitCode.TESTS_FAILED

    def test_a_model_whose_answers_vary_as_before_is_not_worse(self, mind: Mind) -> None:
        ids = [f"c{number:02}" for number in range(12)]
        mind.cases(*ids)
        for number, case in enumerate(ids):
            mind.says_in_turn(case, *(WRONG if turn == number % 4 else RIGHT for turn in range(4)))
        mind.run("--fc-samples=4 any", "--fc-accept")
        mind.says({case: WRONG if number % 4 == 3 else RIGHT for number, case in enumerate(ids)})

        result = mind.run(ONCE)

        result.stdout.no_fnmatch_line("*is worse*")
        result.assert_outcomes(passed=9, xfailed=3)
        assert result.ret == pytest.ExitCode.OK


def test_other_reasons_of_a_case_that_is_mostly_wrong_fail_it(mind: Mind) -> None:
    mind.cases("one")
    mind.says({"one": WRONG})
    mind.run("--fc-accept=all")
    mind.says({"one": WORSE})
    mind.run().assert_outcomes(failed=1)


class TestShards:
    """Runs that are parts of one."""

    def test_an_accepted_shard_counts_once(self, mind: Mind) -> None:
        mind.cases("one")
        mind.run("--fc-shard=1/1", "--fc-accept")
        mind.says({"one": WRONG})

        mind.run("--fc-confirm=0").stdout.fnmatch_lines(["*regressed: 1/1 right before, 0/1 now*"])

    @pytest.mark.nightly  # the same as above, by the parts of the merged run
    def test_an_accepted_merged_run_counts_once(self, mind: Mind) -> None:
        mind.cases("one", "two", "three", "four")
        for shard in ("1/2", "2/2"):
            mind.run(f"--fc-shard={shard}")
        parts = [str(path.relative_to(mind.path)) for path in run_paths(mind.path)]
        fcall_here(mind.path, "merge", *parts, "-o", "merged.json")
        assert fcall_here(mind.path, "accept", "merged.json").returncode == 0
        mind.says(dict.fromkeys(("one", "two", "three", "four"), WRONG))

        result = mind.run("--fc-confirm=0")

        assert len(lines_with(result, "regressed: 1/1 right before, 0/1 now")) == 4


def test_a_measurement_that_cannot_be_read_is_named_and_nothing_is_accepted(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    mind.measurement().unlink()
    mind.measurement().mkdir()

    done = fcall_here(mind.path, "accept")

    assert done.returncode == 1
    assert (
        "/a.fc.yaml.measured.jsonl:1:1: the baseline cannot be read: it is a folder, not a regular file" in done.stderr
    )
    assert "Traceback" not in done.stderr
