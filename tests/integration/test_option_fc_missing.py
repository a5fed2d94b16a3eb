"""A case of a named model that could not be judged makes the run inconclusive, unless the settings excuse it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.conftest import Shop
from tests.integration.exam import CASES, Exam, weather_in

INCONCLUSIVE = 10
FIRST, CHANGED = "You tell the weather.", "You tell the weather!"
CITIES = ("Bern", "Oslo", "Rome")
WHAT_CHANGED = ["  the prompt changed (system message):", f"    - {FIRST}", f"    + {CHANGED}"]
LEFT_OUT = "without these the run is at best inconclusive (exit status 10), unless fc_missing = skip"


@pytest.fixture
def recorded(exam: Exam) -> Exam:
    """Three cases whose model the configuration names, with recorded replies."""
    exam.shop.file("pytest.ini", f"[pytest]\nfc_model = {exam.named('exam')}\n")
    system(exam, FIRST)
    exam.shop.run("--fc-live").assert_outcomes(passed=3)
    exam.server.asked.clear()
    return exam


def system(exam: Exam, text: str) -> None:
    """Write the cases with this system prompt."""
    exam.shop.cases(f"defaults:\n  system: {text}\n{weather_in(CITIES)}", "exam.fc.yaml")


def append(path: Path, line: str) -> None:
    path.write_text(f"{path.read_text('utf-8')}{line}\n", "utf-8")


def add_case(exam: Exam) -> None:
    append(exam.path / CASES, "  - {id: thanks, prompt: Thanks!, expect: no_call}")


@pytest.mark.parametrize(
    ("workers", "ci"), [("-n0", ""), by_night("-n0", "true"), ("-n2", "true"), by_night("-n2", "")]
)
def test_a_changed_prompt_is_said_once_with_the_command_that_mends_it(
    recorded: Exam, monkeypatch: pytest.MonkeyPatch, workers: str, ci: str
) -> None:
    monkeypatch.setenv("CI", ci)
    system(recorded, CHANGED)
    result = recorded.shop.run(workers)
    assert result.ret == INCONCLUSIVE
    result.assert_outcomes(skipped=3)
    result.stdout.fnmatch_lines(
        [
            "3 cases not judged: no recorded reply of openai:exam fits",
            *WHAT_CHANGED,
            "to ask for what is missing: pytest --fc-live",
            LEFT_OUT,
            "fcall: openai:exam 0/0 right, 3 not judged",
        ],
        consecutive=True,
    )
    assert result.stdout.str().count(CHANGED) == 1
    assert recorded.asked() == []


def test_the_command_mends_it(recorded: Exam) -> None:
    system(recorded, CHANGED)
    assert recorded.shop.run().ret == INCONCLUSIVE
    assert recorded.shop.run("--fc-live").ret == 0
    assert len(recorded.asked()) == 3
    assert recorded.shop.run().ret == 0


def test_where_replies_are_under_version_control_the_command_writes_them_there(recorded: Exam) -> None:
    assert fcall_here(recorded.path, "record", "--export").returncode == 0
    system(recorded, CHANGED)
    recorded.shop.run().stdout.fnmatch_lines(["to ask for what is missing: pytest --fc-live && fcall record --export"])


def test_a_quiet_run_says_why_it_is_inconclusive(recorded: Exam) -> None:
    system(recorded, CHANGED)
    result = recorded.shop.run("-q")
    assert result.ret == INCONCLUSIVE
    result.stdout.fnmatch_lines(["3 cases not judged: *", "to ask for what is missing: pytest --fc-live", LEFT_OUT])
    result.stdout.no_fnmatch_line("*the prompt changed*")


def test_causes_are_counted_apart(recorded: Exam) -> None:
    system(recorded, CHANGED)
    add_case(recorded)
    recorded.shop.run().stdout.fnmatch_lines(
        [
            "4 cases not judged: no recorded reply of openai:exam fits",
            "  3 cases: the prompt changed (system message):",
            f"    - {FIRST}",
            f"    + {CHANGED}",
            "  1 case: nothing was recorded for this case",
        ],
        consecutive=True,
    )


def test_one_case_of_many_is_enough(recorded: Exam) -> None:
    add_case(recorded)
    result = recorded.shop.run()
    assert result.ret == INCONCLUSIVE
    result.assert_outcomes(passed=3, skipped=1)
    result.stdout.fnmatch_lines(["fcall: openai:exam 3/3 right *, 1 not judged, *"])


@pytest.mark.parametrize(
    "arguments", [("-k", "not thanks"), by_night(("--deselect", f"{CASES}::thanks")), (f"{CASES}::Oslo",)]
)
def test_what_was_not_to_run_is_not_missed(recorded: Exam, arguments: tuple[str, ...]) -> None:
    add_case(recorded)
    assert recorded.shop.run(*arguments).ret == 0


def test_what_the_case_itself_skips_is_not_missed(recorded: Exam) -> None:
    append(recorded.path / CASES, "  - {id: thanks, prompt: Hi, expect: no_call, skip: later}")
    result = recorded.shop.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["fcall: openai:exam 3/3 right *, 1 skipped, *"])


def test_a_wrong_answer_fails_the_run_whatever_is_missing(recorded: Exam) -> None:
    add_case(recorded)
    path = recorded.path / CASES
    path.write_text(path.read_text("utf-8").replace("{city: Oslo}}]", "{city: Bergen}}]"), "utf-8")
    assert recorded.shop.run().ret == 1
    assert recorded.shop.run("-x").ret == 1


def test_shards_are_inconclusive_each_and_together(recorded: Exam) -> None:
    add_case(recorded)
    assert sorted(recorded.shop.run(f"--fc-shard={number}/2").ret for number in (1, 2)) == [0, INCONCLUSIVE]
    merged = fcall_here(recorded.path, "merge", *map(str, recorded.path.glob(".fcall/runs/*of2.json")))
    assert merged.returncode == INCONCLUSIVE
    assert merged.stdout.splitlines()[:4] == [
        "1 case not judged: no recorded reply of openai:exam fits",
        "  nothing was recorded for this case",
        "to ask for what is missing: pytest --fc-live",
        LEFT_OUT,
    ]


@pytest.mark.parametrize("where", [by_night("--fc-missing=skip"), "fc_missing = skip"])
def test_a_person_may_say_that_such_cases_are_skipped(recorded: Exam, where: str) -> None:
    if not where.startswith("-"):
        append(recorded.path / "pytest.ini", where)
    system(recorded, CHANGED)
    result = recorded.shop.run(*([where] if where.startswith("-") else []))
    assert result.ret == 0
    result.stdout.fnmatch_lines(["3 cases not judged: *", *WHAT_CHANGED, "to ask *", "fcall: *, 3 not judged"])
    result.stdout.no_fnmatch_line("*inconclusive*")


def test_the_command_line_comes_before_the_configuration(recorded: Exam) -> None:
    append(recorded.path / "pytest.ini", "fc_missing = skip")
    system(recorded, CHANGED)
    assert recorded.shop.run("--fc-missing=inconclusive").ret == INCONCLUSIVE


def test_another_value_is_refused(shop: Shop) -> None:
    result = shop.run("-o", "fc_missing=pass")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: fc_missing: 'pass' is none of inconclusive, skip"])


def test_a_gate_misses_what_the_settings_excuse(recorded: Exam) -> None:
    system(recorded, CHANGED)
    assert recorded.shop.run("--fc-missing=skip", "--fc-gate=accuracy>=0.5").ret == INCONCLUSIVE


def test_under_replay_the_first_error_says_in_full_what_changed(recorded: Exam) -> None:
    system(recorded, CHANGED)
    result = recorded.shop.run("--fc-replay")
    assert result.ret == INCONCLUSIVE
    result.assert_outcomes(errors=3)
    said = result.stdout.str().partition(" ERRORS =")[2].partition("\n---")[0]
    assert said.count(CHANGED) == 1
    assert said.count(f"for the same reason as {CASES}::Bern") == 2


def test_under_replay_the_command_names_the_model_of_the_command_line(recorded: Exam) -> None:
    system(recorded, CHANGED)
    result = recorded.shop.run("--fc-replay", "--fc-model=openai:exam")
    result.stdout.fnmatch_lines(["to ask for what is missing: pytest --fc-model=openai:exam"])


def test_under_replay_it_may_be_skipped_too(recorded: Exam) -> None:
    system(recorded, CHANGED)
    result = recorded.shop.run("--fc-replay", "--fc-missing=skip")
    assert result.ret == 0
    result.assert_outcomes(skipped=3)


def test_a_plain_test_that_the_named_model_could_not_answer_is_missed(recorded: Exam) -> None:
    plain = recorded.shop.file("test_plain.py", "def test_it(fc_model):\n    assert fc_model('hello').text\n")
    result = recorded.shop.run(plain)
    assert result.ret == INCONCLUSIVE
    result.assert_outcomes(skipped=1)
    assert recorded.shop.run(plain, "--fc-live").ret == 0
    assert recorded.shop.run(plain).ret == 0


def test_where_no_model_is_named_nothing_is_missed(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    shop.file(
        "test_wire.py",
        """
        import os
        import urllib.error
        import urllib.request

        def test_it(fc_wire):
            try:
                urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/models")
            except urllib.error.HTTPError as refused:
                refused.close()
                raise
        """,
    )
    result = shop.run()
    assert result.ret == 0
    result.assert_outcomes(skipped=1)
    assert shop.run("-o", "fc_model=openai:exam").ret == INCONCLUSIVE


def test_cases_of_nobody_are_errors_that_say_how_to_name_a_model(weather: Shop) -> None:
    result = weather.run()
    assert result.ret == 1
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*no model is named. Name one", "  with --fc-model=KIND:NAME*"])


def test_the_help_names_the_choices(shop: Shop) -> None:
    shop.run("--help").stdout.fnmatch_lines(["  --fc-missing=inconclusive|skip", "*fc_missing (string):*"])


def test_a_run_of_an_older_version_is_read(recorded: Exam, tmp_path: Path) -> None:
    recorded.shop.run()
    (run, *_) = recorded.path.glob(".fcall/runs/*.json")
    older = tmp_path / "run.json"
    older.write_text(run.read_text("utf-8").replace('"missing":[],"missing_excused":false', '"missing_recordings":2'))
    assert '"missing_recordings":2' in older.read_text("utf-8")
    assert fcall_here(recorded.path, "history", str(older)).returncode == 0
