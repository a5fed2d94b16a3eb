"""What a verdict means against the baseline."""

from __future__ import annotations

import json
import re
import shutil
from xml.etree import ElementTree as ET

import pytest

from pytest_fcall.tracking.contract_lines import facts_of
from pytest_fcall.tracking.stanza import Stanza
from tests.by_night import by_night
from tests.integration.mind import OTHERWISE, RIGHT, WORSE, WRONG, Mind, Said, lines_with

ALONE, WORKERS = "-n0", "-n2"

MATRIX: dict[str, tuple[Said | None, Said, str, str | None]] = {
    "ok": (RIGHT, RIGHT, "passed", "ok"),
    "drifted": (RIGHT, OTHERWISE, "passed", "drifted"),
    "regressed": (RIGHT, WRONG, "failed", "regressed"),
    "fixed": (WRONG, RIGHT, "passed", "fixed"),
    "known": (WRONG, WRONG, "skipped", "known failure"),
    "otherwise-wrong": (WRONG, WORSE, "failed", "new"),
    "new": (None, RIGHT, "passed", "new"),
    "new-wrong": (None, WRONG, "failed", "new"),
}
"""By case: what is accepted, what the model says now, how pytest counts it, and the outcome."""


def outcomes(mind: Mind) -> dict[str, tuple[str, str | None]]:
    """How JUnit has each case, and its outcome."""
    found = {}
    for case in ET.parse(mind.path / "junit.xml").getroot().iter("testcase"):
        how = next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")
        properties = {each.get("name"): each.get("value") for each in case.iter("property")}
        found[str(case.get("name"))] = how.replace("failure", "failed"), properties.get("fcall_outcome")
    return found


@pytest.mark.parametrize("workers", [ALONE, WORKERS])
def test_the_outcome_follows_from_the_baseline_and_the_verdict(mind: Mind, workers: str) -> None:
    accepted = {case: then for case, (then, *_) in MATRIX.items() if then is not None}
    mind.cases(*accepted)
    mind.says(accepted)
    mind.run("--fc-accept=all", workers)
    mind.cases(*MATRIX)
    mind.says({case: now for case, (_, now, *_) in MATRIX.items()})

    result = mind.run(workers, "--junit-xml=junit.xml")

    assert outcomes(mind) == {case: (how, outcome) for case, (*_, how, outcome) in MATRIX.items()}
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "  baseline of *: calls[[]0].args.city: 'Oslo' → 'Rome'",
            "1 regressed:",
            "  cases/a.fc.yaml:?? regressed: 1/1 right before, 0/? now (p = 0.000*)",
            "      calls[[]0].args.city: 'Oslo' → 'Rome'",
            "1 fixed:",
            "  cases/a.fc.yaml:?? fixed: *",
            "not in the baseline: 1 fixed, 1 new, 1 drifted; *",
            "fcall: python:mind:answer 4/8 right *, 4 wrong (1 xfailed), 1 regressed, *",
        ]
    )


@pytest.mark.parametrize("workers", [ALONE, by_night(WORKERS)])
def test_accepted_replies_are_well_the_next_time_and_no_file_changes(mind: Mind, workers: str) -> None:
    mind.cases("one", "two", "three")
    mind.says({"two": WRONG, "three": "no call"})
    mind.run("--fc-accept=all", workers)
    before = mind.files()

    result = mind.run("--fc-accept=all", workers)

    result.assert_outcomes(passed=1, xfailed=2)
    result.stdout.fnmatch_lines(["accepted: 0 cases, 3 unchanged"])
    assert mind.files() == before


def test_where_nothing_is_accepted_nothing_is_said_of_it(mind: Mind) -> None:
    mind.cases("one", "two")
    mind.says({"two": WRONG})

    result = mind.run()

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.no_fnmatch_line("*baseline*")
    result.stdout.no_fnmatch_line("*regressed*")


def test_a_regression_says_what_the_baseline_had_and_what_changed_in_the_question(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    path = mind.path / "cases" / "a.fc.yaml"
    path.write_text(path.read_text("utf-8").replace("Current weather of a city.", "The weather."), "utf-8")
    mind.says({"one": WRONG})

    result = mind.run()

    result.stdout.fnmatch_lines(
        [
            "  baseline of 20??-??-??: calls[[]0].args.city: 'Oslo' → 'Rome'",
            "  changed since: the description of get_weather changed",
        ]
    )


def with_system_prompt(mind: Mind, text: str) -> None:
    """Give the case file this system prompt instead of the one that it has."""
    path = mind.path / "cases" / "a.fc.yaml"
    cases = re.sub(r"\Adefaults: .*\n", "", path.read_text("utf-8"))
    path.write_text(f"defaults: {{system: {json.dumps(text)}}}\n{cases}", "utf-8")


def unwrapped(said: pytest.RunResult) -> list[str]:
    """The lines of the output; those that go on with more indentation as one."""
    return re.sub(r"\n {6,}(?=\S)", " ", "\n".join(said.outlines)).split("\n")


def test_the_changed_words_of_the_system_prompt_are_shown_where_the_former_one_is_recorded(mind: Mind) -> None:
    mind.cases("one")
    path = mind.path / "cases" / "a.fc.yaml"
    cases = path.read_text("utf-8")
    path.write_text(f"defaults: {{system: You are a helpful clerk of the weather.}}\n{cases}", "utf-8")
    mind.run("--fc-accept")
    path.write_text(f"defaults: {{system: You are a friendly clerk of the weather.}}\n{cases}", "utf-8")
    mind.says({"one": WRONG})

    said = mind.run("--fc-confirm=0")

    changed = "the system prompt changed: You are a [-helpful-]{+friendly+} clerk of the weather."
    assert f"  {changed} (1 case)" in unwrapped(said)


@pytest.mark.parametrize("workers", [ALONE, by_night(WORKERS)])
def test_the_changed_sentence_of_many_cases_is_told_once_and_whole(mind: Mind, workers: str) -> None:
    ids = [f"c{number}" for number in range(6)]
    mind.cases(*ids)
    sentence = f"Ask for the city {'very ' * 15}politely, and name {'no ' * 400}country."
    prompt = f"You are a clerk of the weather. {sentence} Be brief, {'and brief, ' * 200}always."
    with_system_prompt(mind, prompt)
    mind.run("--fc-accept", workers)
    with_system_prompt(mind, prompt.replace("politely", "firmly"))
    mind.says(dict.fromkeys(ids, WRONG))

    said = mind.run("--fc-confirm=0", workers)

    assert f"{len(ids)} regressed:" in said.outlines
    assert [line for line in unwrapped(said) if "[-" in line] == [
        f"  the system prompt changed: … Ask for the city {'very ' * 15}[-politely,-]{{+firmly,+}} "
        f"and name {'no ' * 18}… ({len(ids)} cases)"
    ]


@pytest.mark.nightly  # as the unit test of former questions
def test_a_system_prompt_that_only_the_account_of_a_run_has_is_known_too(mind: Mind) -> None:
    mind.cases("one")
    with_system_prompt(mind, "You are a helpful clerk.")
    mind.run("--fc-accept", "--fc-record=off")
    with_system_prompt(mind, "You are a cheerful clerk.")
    mind.run()
    with_system_prompt(mind, "You are a friendly clerk.")
    mind.says({"one": WRONG})

    said = mind.run("--fc-confirm=0")

    assert "  the system prompt changed: You are a [-helpful-]{+friendly+} clerk. (1 case)" in unwrapped(said)


@pytest.mark.parametrize("workers", [ALONE, by_night(WORKERS)])
def test_where_the_accepted_system_prompt_is_not_known_it_is_told_that_it_changed(mind: Mind, workers: str) -> None:
    mind.cases("one", "two")
    with_system_prompt(mind, "You are a helpful clerk.")
    mind.run("--fc-accept")
    shutil.rmtree(mind.path / ".fcall")
    with_system_prompt(mind, "You are a friendly clerk.")
    mind.run()
    with_system_prompt(mind, "You are an unfriendly clerk.")
    mind.says({"one": WRONG})

    said = mind.run("--fc-confirm=0", workers)

    assert "  the system prompt changed (1 case)" in said.outlines


@pytest.mark.nightly  # as the unit test of changed words
def test_a_system_prompt_with_the_same_words_is_no_riddle(mind: Mind) -> None:
    mind.cases("one")
    with_system_prompt(mind, "You are a  clerk.")
    mind.run("--fc-accept")
    with_system_prompt(mind, "You are a clerk.")
    mind.says({"one": WRONG})

    said = mind.run("--fc-confirm=0")

    assert "  the system prompt changed: its words are the same (1 case)" in unwrapped(said)


def test_a_known_failure_says_why_and_since_when(mind: Mind) -> None:
    mind.cases("one")
    mind.says({"one": WRONG})
    mind.run("--fc-accept=all")

    result = mind.run("-rx")

    result.stdout.fnmatch_lines(["XFAIL *::one - known failure since 20??-??-??: wrong_value at calls[[]0].args.city"])
    assert result.ret == pytest.ExitCode.OK


def test_known_failures_fail_where_pytest_is_told_to_run_them_as_if_they_were_none(mind: Mind) -> None:
    mind.cases("one")
    mind.says({"one": WRONG})
    mind.run("--fc-accept=all")

    mind.run("--runxfail").assert_outcomes(failed=1)


@pytest.mark.nightly  # the same as of an answer, below
def test_an_edited_expectation_is_no_regression(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    mind.cases("one", expect="[{get_weather: {city: Rome}}]")

    result = mind.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["  baseline of *: the case was edited since, so this is no regression"])
    result.stdout.no_fnmatch_line("*regressed*")


def test_an_app_may_have_changed_where_nothing_visible_has_and_the_whole_line_fits_a_terminal(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    mind.says({"one": WRONG})

    mind.run().stdout.fnmatch_lines(["  changed since: nothing visible; the app's code may have changed"])


def test_another_day_edits_no_case_and_changes_no_question(mind: Mind) -> None:
    mind.shop.file(
        "mind.py",
        """
        import json
        from pathlib import Path

        def answer(request):
            return json.loads(Path(__file__).with_name("said.json").read_text("utf-8"))["one"]
        """,
    )
    case = "{id: one, prompt: 'It is {now}.', expect: [{get_weather: {city: {$any: [Oslo, '{now}']}}}]}"
    mind.shop.cases(f"defaults: {{system: 'Today is {{now}}.'}}\ncases:\n  - {case}\n", "a.fc.yaml")
    mind.says({"one": RIGHT})
    mind.run("--fc-accept")
    mind.run("--fc-accept")
    assert mind.measured() == {"one": (2, 2)}
    mind.says({"one": WRONG})

    result = mind.run()

    result.stdout.fnmatch_lines(["1 regressed:"])
    result.stdout.no_fnmatch_line("*changed since: the*")


def test_a_forbidden_call_is_neither_accepted_nor_excused(mind: Mind) -> None:
    mind.cases("one", expect="{calls: [{get_weather: {city: Oslo}}], never: [get_weather: {city: Rome}]}")
    mind.says({"one": WRONG})

    accepting = mind.run("--fc-accept=all")

    accepting.stdout.fnmatch_lines(["not accepted, since a forbidden call is never excused: one"])
    assert not mind.files()
    mind.run().assert_outcomes(failed=1)


def test_a_mark_that_expects_a_failure_makes_it_a_known_one(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    path = mind.path / "cases" / "a.fc.yaml"
    path.write_text(path.read_text("utf-8").replace("prompt: one", "prompt: one, xfail: too hard"), "utf-8")
    mind.says({"one": WRONG})

    result = mind.run()

    result.assert_outcomes(xfailed=1)
    result.stdout.no_fnmatch_line("*regressed*")


def test_two_answers_to_a_case_are_an_error_and_other_cases_are_compared(mind: Mind) -> None:
    mind.cases("one", "two")
    mind.run("--fc-accept")
    mind.baseline().write_text(with_another_answer(mind.baseline().read_text("utf-8"), "two"), "utf-8")
    before = mind.files()
    mind.says({"one": WRONG})

    result = mind.run("--fc-accept")

    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "cases/__fcall__/*/a.fc.yaml.accepted:*: two different answers are accepted to two",
            "  hint: A merge kept both. *`fcall accept --ours`*",
            "1 regressed:",
        ]
    )
    assert mind.files() == before


@pytest.mark.parametrize("workers", [ALONE, by_night(WORKERS)])
def test_a_conflict_between_answers_to_different_cases_is_read_and_noted(mind: Mind, workers: str) -> None:
    mind.cases("one", "two")
    mind.run("--fc-accept")
    text = mind.baseline().read_text("utf-8")
    first, second = text.index("one right"), text.index("two right")
    conflict = f"<<<<<<< HEAD\n{text[first:second]}=======\n{text[second:]}>>>>>>> other\n"
    mind.baseline().write_text(text[:first] + conflict, "utf-8")
    mind.says({"two": OTHERWISE})

    result = mind.run(workers)

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*a.fc.yaml.accepted: a merge conflict * `fcall accept --both` cleans the file"])
    assert lines_with(result, "1 drifted")


def with_another_answer(text: str, case: str) -> str:
    """The contract after a merge with a branch that accepted no call for this case, which is its last."""
    start = text.index(f"{case} right")
    other = facts_of(Stanza(case, True, calls=()))
    return text[:start] + "".join(f"{case} {fact}\n" for fact in other) + text[start:]


def test_each_model_has_a_baseline_of_its_own(mind: Mind) -> None:
    mind.cases("one")
    both = (f"--fc-model={mind.model}", "--fc-model=python:mind:other")
    mind.shop.run(*both, "--fc-accept")
    mind.says({"one": OTHERWISE})
    before = mind.baseline().read_bytes()
    mind.shop.run("--fc-model=python:mind:other", "--fc-accept")

    assert mind.baseline().read_bytes() == before
    assert mind.baseline(model="python:mind:other").read_bytes() != before


def test_the_text_of_an_answer_is_compared_where_the_case_expects_one(mind: Mind) -> None:
    mind.shop.cases("cases:\n  - {id: one, prompt: one, expect: no_call, answer: {$contains: rain}}\n", "a.fc.yaml")
    mind.says({"one": "it will rain"})
    mind.run("--fc-accept")
    mind.says({"one": "sun"})

    result = mind.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["1 regressed:"])
    assert 'one answer "it will rain"' in mind.baseline().read_text("utf-8")


def test_a_text_that_nothing_was_expected_of_is_no_regression(mind: Mind) -> None:
    mind.shop.cases("cases:\n  - {id: one, prompt: one, expect: no_call}\n", "a.fc.yaml")
    mind.says({"one": "sun"})
    mind.run("--fc-accept")
    mind.shop.cases("cases:\n  - {id: one, prompt: one, expect: no_call, answer: {$contains: rain}}\n", "a.fc.yaml")

    result = mind.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["  baseline of *: the case was edited since, so this is no regression"])
    mind.says({"one": WRONG})
    mind.run().stdout.fnmatch_lines(["1 regressed:"])


def test_a_verdict_that_a_hook_changes_is_changed_for_the_baseline_too(mind: Mind) -> None:
    mind.shop.file(
        "conftest.py",
        """
        from dataclasses import replace
        import pytest

        @pytest.hookimpl(wrapper=True)
        def pytest_fcall_verdict(reply, verdict):
            verdict = yield
            return replace(verdict, valid=True, reasons=())
        """,
    )
    mind.cases("one")
    mind.says({"one": WRONG})
    mind.run("--fc-accept")
    mind.says({"one": WORSE})

    mind.run("--fc-drift=ignore").assert_outcomes(passed=1)


def test_where_a_test_is_run_again_the_last_verdict_is_accepted(mind: Mind) -> None:
    mind.cases("one")
    (mind.path / "mind.py").write_text(
        "from itertools import count\n\nturn = count()\n\n\ndef answer(request):\n"
        "    return [{'name': 'get_weather', 'arguments': {'city': ['Rome', 'Oslo'][next(turn)]}}]\n"
    )

    mind.run("--fc-accept=all", "-p", "rerunfailures", "--reruns=1", "--fc-record=off")

    assert "one right #" in mind.baseline().read_text("utf-8")


def test_ordinary_snapshots_and_baselines_do_not_see_each_other(mind: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # syrupy would not report
    mind.cases("one")
    mind.run("--fc-accept")
    before = mind.files()
    mind.shop.file("cases/test_plain.py", "def test_plain(snapshot):\n    assert 1 == snapshot\n")

    updating = mind.apart("-p", "syrupy", "--snapshot-update")
    checking = mind.apart("-p", "syrupy", "--snapshot-details")

    assert {path: content for path, content in mind.files().items() if "__fcall__" in path} == before
    for result in (updating, checking):
        result.stdout.no_fnmatch_line("*unused*")
        result.stdout.no_fnmatch_line("*__fcall__*")
    assert lines_with(updating, "1 snapshot generated")
