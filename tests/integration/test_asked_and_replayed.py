"""How many answers a run asked for and how many it replayed, wherever a run is reported."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.exam import Exam, called, weather_in
from tests.integration.test_conversations import TWO_STEPS
from tests.servers import chat

WORKERS = pytest.mark.parametrize("workers", ["-n0", "-n2"])
WORKERS_BY_NIGHT = pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])


@pytest.fixture
def mixed(exam: Exam) -> Exam:
    """Two cases with replies that are two and nine days old, and one without."""
    exam.cities("Oslo", "Rome")
    exam.run().assert_outcomes(passed=2)
    exam.age(Oslo=2, Rome=9)
    exam.cities("Oslo", "Rome", "Bern")
    return exam


@WORKERS_BY_NIGHT
def test_a_run_that_sends_nothing_does_not_claim_that_it_asked(exam: Exam, workers: str) -> None:
    exam.cities("Oslo", "Rome")
    exam.run(workers).stdout.fnmatch_lines(["fcall: openai:exam 2/2 right *, 2 asked"])
    assert {case: (each.asked, each.replayed) for case, each in exam.results().items()} == {
        "Oslo": (1, False),
        "Rome": (1, False),
    }
    exam.server.asked.clear()
    again = exam.run(workers)
    again.stdout.fnmatch_lines(
        [
            "fcall: openai:exam (command line), profile strict by default",
            "       asked live; recorded replies are reused (--fc-record=all asks again)",
            "fcall: openai:exam 2/2 right *, all 2 replayed (under 2 minutes old)",
        ]
    )
    assert exam.asked() == []
    assert {case: (each.asked, each.replayed) for case, each in exam.results().items()} == {
        "Oslo": (0, True),
        "Rome": (0, True),
    }


@WORKERS_BY_NIGHT
@pytest.mark.parametrize("quiet", [[], by_night(["-q"])])
def test_the_last_line_counts_both_and_says_how_old_replies_are(mixed: Exam, workers: str, quiet: list[str]) -> None:
    result = mixed.run(workers, *quiet)
    result.stdout.fnmatch_lines(["fcall: openai:exam 3/3 right *, 1 asked, 2 replayed (2 to 9 days old)"])
    assert mixed.asked() == [called("Bern")]
    assert {case: each.asked for case, each in mixed.results().items()} == {"Oslo": 0, "Rome": 0, "Bern": 1}


@pytest.mark.parametrize("option", ["--fc-record=all", *map(by_night, ("--fc-record=off", "--fc-max-age=0d"))])
def test_the_header_says_where_no_recording_is_used(mixed: Exam, option: str) -> None:
    result = mixed.run(option)
    result.stdout.fnmatch_lines(["       asked live; no recorded reply is reused", "fcall: *, 3 asked"])
    assert len(mixed.asked()) == 3


@WORKERS
def test_a_reply_of_another_worker_or_case_is_not_an_old_one(exam: Exam, workers: str) -> None:
    cases = "".join(
        f"  - {{id: c{n}, prompt: '{called('Paris')}', expect: [{{get_weather: {{city: Paris}}}}]}}\n"
        for n in range(12)
    )
    exam.shop.cases(f"cases:\n{cases}", "exam.fc.yaml")
    exam.run(workers).stdout.fnmatch_lines(["fcall: openai:exam 12/12 right *, 12 asked"])
    assert exam.asked() == [called("Paris")]


def test_a_worker_that_takes_the_place_of_a_crashed_one_knows_when_the_run_began(exam: Exam) -> None:
    for name in ("before", "behind"):
        exam.shop.cases(weather_in(["Paris"]), f"{name}.fc.yaml")
    exam.shop.file("test_crash.py", "import os\ndef test_it(): os._exit(1)\n")
    result = exam.run("-n1", "cases/before.fc.yaml", "test_crash.py", "cases/behind.fc.yaml")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["fcall: openai:exam 2/2 right *, 2 asked"])
    assert exam.asked() == [called("Paris")]


@WORKERS_BY_NIGHT
def test_samples_are_counted_one_by_one(exam: Exam, workers: str) -> None:
    exam.cities("Oslo", "Rome")
    exam.run("--fc-samples=2", workers).stdout.fnmatch_lines(["fcall: *, 4 asked"])
    exam.run("--fc-samples=5", workers).stdout.fnmatch_lines(["fcall: *, 6 asked, 4 replayed (under 2 minutes old)"])
    oslo = exam.results()["Oslo"]
    assert (oslo.asked, oslo.replays, oslo.samples, oslo.replayed) == (3, 2, (5, 5), False)


@WORKERS_BY_NIGHT
def test_a_conversation_is_asked_for_if_any_of_its_steps_is(exam: Exam, workers: str) -> None:
    exam.shop.cases(TWO_STEPS, "exam.fc.yaml")
    exam.run(workers).stdout.fnmatch_lines(["fcall: *, 1 asked"])
    exam.age(two_steps=3)
    exam.run(workers).stdout.fnmatch_lines(["fcall: *, 1 replayed (3 days old)"])
    assert (exam.results()["two_steps"].asked, exam.results()["two_steps"].replayed) == (0, True)
    exam.shop.cases(TWO_STEPS.replace("returns: sunny", "returns: [sunny]"), "exam.fc.yaml")
    exam.run(workers).stdout.fnmatch_lines(["fcall: *, 1 asked, in part replayed (3 days old)"])
    assert len(exam.asked()) == 1
    assert (exam.results()["two_steps"].asked, exam.results()["two_steps"].replayed) == (1, False)


@WORKERS_BY_NIGHT
def test_a_junit_file_says_it_case_by_case(mixed: Exam, workers: str) -> None:
    mixed.run("--junitxml=report.xml", workers)
    found = {
        str(case.get("name")): {one.get("name"): one.get("value") for one in case.iter("property")}
        for case in ET.parse(mixed.path / "report.xml").iter("testcase")
    }
    told = ("fcall_asked", "fcall_replayed", "fcall_oldest_reply", "fcall_newest_reply")
    assert [found["Bern"].get(name) for name in told] == ["1", None, None, None]
    rome = [found["Rome"].get(name) for name in told]
    assert rome[:2] == ["0", "1"]
    assert [int(age or 0) // 86_400 for age in rome[2:]] == [9, 9]


def test_runs_are_compared_and_charted_with_where_their_answers_came_from(mixed: Exam) -> None:
    mixed.run()
    mixed.run("-k", "Oslo or Rome")
    compared = fcall_here(mixed.path, "compare").stdout.splitlines()
    assert compared[0].endswith(", 1 asked, 2 replayed (2 to 9 days old)")
    assert compared[1].endswith(", all 2 replayed (2 to 9 days old)")
    assert fcall_here(mixed.path, "history").stdout.splitlines()[-2:] == [
        "1 run sent no request: all answers were replayed",
        "last run: all 2 replayed (2 to 9 days old)",
    ]


def test_shards_are_merged_with_the_ages_of_all(mixed: Exam) -> None:
    for number in (1, 2):
        mixed.run(f"--fc-shard={number}/2")
    shards = [str(path) for path in mixed.path.glob(".fcall/runs/*of2.json")]
    assert (
        fcall_here(mixed.path, "merge", *shards)
        .stdout.splitlines()[-1]
        .endswith("1 asked, 2 replayed (2 to 9 days old)")
    )


def test_the_questions_to_a_judge_that_recordings_answer_are_counted(exam: Exam) -> None:
    exam.shop.cases("cases: [{id: polite, prompt: Hello!, answer: {$judge: greets back}}]", "exam.fc.yaml")
    exam.server.default = lambda _: chat('{"reason": "it does", "answer": "yes"}')
    for said in ("", ", replayed"):
        result = exam.run(f"--fc-judge={exam.named('judge')}")
        result.stdout.fnmatch_lines([f"judge openai:judge: 1 question about 1 case, 30 tokens{said}"])
