"""`--fc-max-age`: how old a reply may be that is used again."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pytest_fcall.backends.store import ReplyStore, store_path
from tests.integration.exam import Exam, called


@pytest.fixture
def days(exam: Exam) -> Exam:
    """Replies that are half a day, two days and ten days old."""
    ages = {"Noon": 0.5, "Monday": 2, "April": 10}
    exam.cities(*ages)
    exam.run().assert_outcomes(passed=3)
    exam.server.asked.clear()
    now = datetime.now(UTC)
    with closing(ReplyStore(store_path(exam.path))) as store:
        for kept in list(store.replies()):
            recorded = (now - timedelta(days=ages[kept.entry.case])).isoformat()
            store.put(kept.model, kept.file, replace(kept.entry, recorded=recorded))
    return exam


@pytest.mark.parametrize(
    ("age", "again"),
    [
        ("11d", []),
        ("7d", ["April"]),
        ("24h", ["April", "Monday"]),
        ("600m", ["April", "Monday", "Noon"]),
        ("0d", ["April", "Monday", "Noon"]),
    ],
)
def test_older_replies_are_asked_for_again(days: Exam, age: str, again: list[str]) -> None:
    days.run(f"--fc-max-age={age}").assert_outcomes(passed=3)
    assert sorted(days.asked()) == sorted(map(called, again))


def test_what_was_asked_for_again_is_new(days: Exam) -> None:
    for _ in range(2):
        days.run("--fc-max-age=1d").assert_outcomes(passed=3)
    assert len(days.asked()) == 2


def test_without_it_replies_never_grow_old(days: Exam) -> None:
    days.run().assert_outcomes(passed=3)
    assert days.asked() == []


def test_where_nobody_is_asked_age_does_not_count(days: Exam) -> None:
    days.run("--fc-max-age=1d", "--fc-replay").assert_outcomes(passed=3)
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
    result.stderr.fnmatch_lines([f"*--fc-max-age: '{age}' is not a duration; use minutes, hours, days or weeks*"])
    assert exam.asked() == []
