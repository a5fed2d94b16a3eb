"""`--fc-max-age`: how old a reply may be that is used again."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from pytest_fcall.backends.recordings.file import bookkeeping_path, recordings_path
from pytest_fcall.core import Model
from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.exam import CASES, Exam, called

WORKERS = pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
ALL = ["April", "Monday", "Noon"]


@pytest.fixture
def days(exam: Exam) -> Exam:
    """Replies that are half a day, two days and ten days old."""
    exam.cities("Noon", "Monday", "April")
    exam.run().assert_outcomes(passed=3)
    exam.age(Noon=0.5, Monday=2, April=10)
    return exam


@pytest.fixture
def ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")


@pytest.mark.parametrize(
    ("age", "again"),
    [
        ("7d", ["April"]),
        by_night("11d", []),
        ("24h", ["April", "Monday"]),
        ("600m", ["April", "Monday", "Noon"]),
        ("0d", ["April", "Monday", "Noon"]),
    ],
)
def test_older_replies_are_asked_for_again(days: Exam, age: str, again: list[str]) -> None:
    days.run(f"--fc-max-age={age}").assert_outcomes(passed=3)
    assert sorted(days.asked()) == sorted(map(called, again))


@pytest.mark.nightly  # as in CI
def test_what_was_asked_for_again_is_new(days: Exam) -> None:
    for _ in range(2):
        days.run("--fc-max-age=1d").assert_outcomes(passed=3)
    assert len(days.asked()) == 2


@pytest.mark.nightly  # as where a variable says that this is no CI, below
def test_without_it_replies_never_grow_old(days: Exam) -> None:
    days.run().assert_outcomes(passed=3)
    assert days.asked() == []


@WORKERS
def test_in_ci_what_is_older_than_a_day_is_asked_for_again(days: Exam, ci: None, workers: str) -> None:
    result = days.run(workers)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "       asked live; replies recorded in the last 24 h are reused",
            "fcall: *, 2 asked, 1 replayed (12 hours old)",
        ]
    )
    assert sorted(days.asked()) == sorted(map(called, ["April", "Monday"]))
    days.run(workers).stdout.fnmatch_lines(["fcall: *, all 3 replayed (under 2 minutes to 12 hours old)"])
    assert len(days.asked()) == 2


@pytest.mark.parametrize("value", ["0", *map(by_night, ("false", ""))])
def test_a_variable_that_says_no_is_no_ci(days: Exam, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CI", value)
    days.run().assert_outcomes(passed=3)
    assert days.asked() == []


@pytest.mark.parametrize(("age", "again"), [("none", []), by_night("7d", ["April"]), by_night("0d", ALL)])
def test_in_ci_the_command_line_and_the_configuration_count(days: Exam, ci: None, age: str, again: list[str]) -> None:
    days.run(f"--fc-max-age={age}").assert_outcomes(passed=3)
    assert sorted(days.asked()) == sorted(map(called, again))
    days.age(Noon=0.5, Monday=2, April=10)
    days.shop.pytester.makeini(f"[pytest]\nfc_max_age = {age}\n")
    days.run().assert_outcomes(passed=3)
    assert sorted(days.asked()) == sorted(map(called, again))


def test_none_on_the_command_line_lifts_the_limit_of_the_configuration(days: Exam) -> None:
    days.shop.pytester.makeini("[pytest]\nfc_max_age = 1d\n")
    days.run("--fc-max-age=none").assert_outcomes(passed=3)
    assert days.asked() == []


@pytest.mark.parametrize("arguments", [by_night(["--fc-max-age=1d"]), []])
def test_where_nobody_is_asked_age_does_not_count(days: Exam, ci: None, arguments: list[str]) -> None:
    result = days.run("--fc-replay", *arguments)
    result.stdout.fnmatch_lines(["fcall: *from recordings only", "fcall: *, all 3 replayed (12 hours to 10 days old)"])
    days.shop.pytester.makeini("[pytest]\nfc_model = openai:exam\n")
    days.shop.run(*arguments).stdout.fnmatch_lines(["fcall: *from recordings only", "fcall: *, all 3 replayed (*)"])
    assert days.asked() == []


def test_in_ci_a_model_of_a_conftest_file_has_a_limit_where_the_command_line_asks(days: Exam, ci: None) -> None:
    days.shop.pytester.makeconftest(f"import pytest\n@pytest.fixture\ndef fc_model(): return {days.named('exam')!r}\n")
    days.shop.run().stdout.fnmatch_lines(["fcall: *, all 3 replayed (12 hours to 10 days old)"])
    assert days.asked() == []
    days.shop.run("--fc-live").stdout.fnmatch_lines(["fcall: *, 2 asked, 1 replayed (12 hours old)"])
    assert len(days.asked()) == 2


def exported(days: Exam, change: Callable[[str], str]) -> None:
    """Leave the replies only in the file for version control, with its lines changed."""
    assert fcall_here(days.path, "record", "--export").returncode == 0
    days.path.joinpath(".fcall/replies.db").unlink()
    path = bookkeeping_path(recordings_path(days.path / CASES, Model("openai", "exam")))
    path.write_text("".join(map(change, path.read_text("utf-8").splitlines(keepends=True))), "utf-8")


def undated(line: str) -> str:
    return re.sub(r'"recorded": "[^"]*", ', "", line) if '"case": "Noon"' in line else line


def from_the_future(line: str) -> str:
    return re.sub(r'"recorded": "....', '"recorded": "9998', line) if '"case": "Noon"' in line else line


@WORKERS
def test_in_ci_replies_under_version_control_grow_old_too(days: Exam, ci: None, workers: str) -> None:
    exported(days, str)
    days.run(workers).stdout.fnmatch_lines(["fcall: *, 2 asked, 1 replayed (12 hours old)"])
    assert sorted(days.asked()) == sorted(map(called, ["April", "Monday"]))


@WORKERS
@pytest.mark.parametrize("change", [undated, by_night(from_the_future)])
def test_in_ci_a_reply_of_unknown_age_is_asked_for_again_and_that_is_said(
    days: Exam, ci: None, workers: str, change: Callable[[str], str]
) -> None:
    exported(days, change)
    result = days.run(workers)
    result.stdout.fnmatch_lines(
        [
            f"{CASES}: recorded replies of openai:exam do not say when they were recorded, and were asked for again",
            "fcall: *, 3 asked",
        ]
    )
    assert sorted(days.asked()) == sorted(map(called, ALL))


@pytest.mark.parametrize("change", [undated, by_night(from_the_future)])
def test_without_a_limit_a_reply_of_unknown_age_is_used_and_said_to_be_one(
    days: Exam, change: Callable[[str], str]
) -> None:
    exported(days, change)
    days.run().stdout.fnmatch_lines(["fcall: *, all 3 replayed (2 to 10 days old, some of unknown age)"])
    assert days.asked() == []


def test_the_configuration_can_say_it(days: Exam) -> None:
    days.shop.pytester.makeini("[pytest]\nfc_max_age = 7d\n")
    days.run().assert_outcomes(passed=3)
    assert days.asked() == [called("April")]


@pytest.mark.parametrize("age", ["7", "d", "-1d", "1y", "1.5d", "7 d", "999999d"])
def test_what_is_no_age_is_a_usage_error(exam: Exam, age: str) -> None:
    exam.cities("Paris")
    result = exam.run(f"--fc-max-age={age}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"*--fc-max-age: '{age}' is not a duration; use minutes, hours, days or weeks*none sets no limit*"]
    )
    assert exam.asked() == []
