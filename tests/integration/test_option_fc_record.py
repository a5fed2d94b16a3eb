"""`--fc-record`: which replies are used again, and which are kept."""

from __future__ import annotations

import shutil

import pytest

from tests.integration.command import fcall_here
from tests.integration.exam import Exam, called, weather_in
from tests.servers import chat

PARIS_AND_ROME = {called("Paris"), called("Rome")}


@pytest.fixture
def asked(exam: Exam) -> Exam:
    """Two cases that were asked once."""
    exam.cities("Paris", "Rome")
    exam.run().assert_outcomes(passed=2)
    exam.server.asked.clear()
    return exam


@pytest.mark.nightly  # test_asked_and_replayed holds it, with what is said of it
def test_what_is_kept_is_not_asked_again(asked: Exam) -> None:
    result = asked.run()
    result.assert_outcomes(passed=2)
    assert asked.asked() == []
    result.stdout.fnmatch_lines(["fcall: openai:exam 2/2 right*replayed*"])


def test_only_what_is_missing_is_asked_for(asked: Exam) -> None:
    asked.cities("Paris", "Oslo", "Rome")
    asked.run("--fc-record=missing").assert_outcomes(passed=3)
    assert asked.asked() == [called("Oslo")]
    assert asked.kept() == PARIS_AND_ROME | {called("Oslo")}


def test_another_model_is_not_answered_by_the_replies_of_the_first(asked: Exam) -> None:
    asked.shop.run(f"--fc-model={asked.named('another')}").assert_outcomes(passed=2)
    assert set(asked.asked()) == PARIS_AND_ROME


@pytest.mark.nightly  # the run below that uses nothing of the first has them
def test_other_settings_are_another_question(asked: Exam) -> None:
    asked.shop.run(f"--fc-model={asked.named('exam', temperature=1)}").assert_outcomes(passed=2)
    assert set(asked.asked()) == PARIS_AND_ROME


def test_another_address_or_key_is_the_same_question(asked: Exam, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANOTHER_KEY", "sk-another")
    query = "base_url=http://127.0.0.1:9/v1&api_key_env=ANOTHER_KEY&timeout=1"
    asked.shop.run(f"--fc-model=openai:exam?{query}").assert_outcomes(passed=2)


def test_all_asks_again_and_keeps_the_new_replies(asked: Exam) -> None:
    asked.always(chat(calls=[("get_weather", {"city": "Paris"})]))
    asked.run("--fc-record=all").assert_outcomes(passed=1, failed=1)
    assert set(asked.asked()) == PARIS_AND_ROME
    assert len(asked.asked()) == 2
    asked.run().assert_outcomes(passed=1, failed=1)
    assert len(asked.asked()) == 2


def test_off_neither_uses_nor_keeps_any(exam: Exam) -> None:
    exam.cities("Paris", "Rome")
    for count in (2, 4):
        exam.run("--fc-record=off").assert_outcomes(passed=2)
        assert len(exam.asked()) == count
    assert not (exam.path / ".fcall/replies.db").exists()


def test_off_leaves_what_is_kept_alone(asked: Exam) -> None:
    asked.always(chat("Hello."))
    asked.run("--fc-record=off").assert_outcomes(failed=2)
    asked.run().assert_outcomes(passed=2)


@pytest.mark.parametrize("record", ["missing", "all", "off"])
def test_what_two_cases_ask_alike_is_asked_once(exam: Exam, record: str) -> None:
    exam.shop.cases(
        f"""
        cases:
          - {{id: one, prompt: '{called("Paris")}', expect: [{{get_weather: {{city: Paris}}}}]}}
          - {{id: two, prompt: '{called("Paris")}', expect: [{{get_weather: {{city: Rome}}}}]}}
          - {{id: three, prompt: '{called("Paris")}', expect: any_call}}
        """,
        "exam.fc.yaml",
    )
    exam.run(f"--fc-record={record}").assert_outcomes(passed=2, failed=1)
    assert exam.asked() == [called("Paris")]


def test_a_reply_that_tests_share_is_exported_for_each_of_them(exam: Exam) -> None:
    exam.cities("Paris")
    exam.shop.cases(weather_in(["Paris", "Rome"]), "another.fc.yaml")
    exam.shop.cases(weather_in(["Paris"]).replace("id: Paris", "id: capital"), "third.fc.yaml")
    exam.run().assert_outcomes(passed=4)
    assert sorted(exam.asked()) == sorted(PARIS_AND_ROME)
    assert fcall_here(exam.path, "record", "--export").returncode == 0
    shutil.rmtree(exam.path / ".fcall")
    exam.run("--fc-replay").assert_outcomes(passed=4)


def test_what_asks_for_nothing_uses_nothing(asked: Exam) -> None:
    last = asked.used()
    asked.shop.run(f"--fc-model={asked.named('exam', temperature=1)}").assert_outcomes(passed=2)
    asked.run("--fc-dry-run")
    assert last.isdisjoint(asked.used())


@pytest.mark.nightly  # test_option_fc_max_age holds it, of old replies
def test_plain_pytest_answers_from_what_is_kept(asked: Exam) -> None:
    asked.shop.pytester.makeini("[pytest]\nfc_model = openai:exam\n")
    result = asked.shop.run()
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*fcall: openai:exam (configuration)*record*"])
    assert asked.asked() == []


def test_the_configuration_can_say_it_and_the_command_line_counts_before_it(asked: Exam) -> None:
    asked.shop.pytester.makeini("[pytest]\nfc_record = off\n")
    asked.run().assert_outcomes(passed=2)
    assert len(asked.asked()) == 2
    asked.run("--fc-record=missing").assert_outcomes(passed=2)
    assert len(asked.asked()) == 2


def test_a_damaged_reply_is_asked_for_again(asked: Exam) -> None:
    database = asked.path / ".fcall/replies.db"
    database.write_bytes(database.read_bytes().replace(b"Rome", b"Bern"))
    asked.run().assert_outcomes(passed=2)
    assert asked.asked() == [called("Rome")]
