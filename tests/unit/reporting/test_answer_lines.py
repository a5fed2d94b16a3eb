from __future__ import annotations

import pytest

from pytest_fcall.reporting.answer_lines import origin_text
from pytest_fcall.reporting.results import Result, Results

MINUTE, HOUR, DAY = 60, 3_600, 86_400


def result(asked: int = 0, of: int = 1) -> Result:
    """A result of some answers, of which so many were asked for and the others replayed."""
    samples = (of, of) if of > 1 else None
    return Result("a::b", "b", "m", "passed", replayed=asked == 0, asked=asked, samples=samples)


def ages(newest: float | None, oldest: float | None, *, undated: bool = False) -> str:
    return origin_text(Results((result(), result()), oldest_reply=oldest, newest_reply=newest, undated_replies=undated))


def test_answers_are_counted_and_not_cases() -> None:
    assert origin_text(Results((result(1), result(5, of=5)))) == "6 asked"
    assert origin_text(Results((result(1), result(2, of=5)))) == "3 asked, 3 replayed"
    assert origin_text(Results((result(), result(of=5)))) == "all 6 replayed"
    assert origin_text(Results((result(),))) == "1 replayed"


def test_errors_and_skipped_cases_are_no_answers() -> None:
    missing = Result("a::c", "c", "m", "error"), Result("a::d", "d", "m", "skipped")
    assert origin_text(Results((result(1), *missing))) == "1 asked"
    assert origin_text(Results(missing)) == ""


@pytest.mark.parametrize(
    ("newest", "oldest", "text"),
    [
        (0, 0, "under 2 minutes old"),
        (119, 119.9, "under 2 minutes old"),
        (2 * MINUTE, 2 * MINUTE, "2 minutes old"),
        (2 * HOUR - 1, 2 * HOUR - 1, "119 minutes old"),
        (25 * HOUR, 47 * HOUR, "25 to 47 hours old"),
        (3 * DAY, 4 * DAY - 1, "3 days old"),
        (2 * DAY, 9.9 * DAY, "2 to 9 days old"),
        (5 * HOUR, 9 * DAY, "5 hours to 9 days old"),
        (1, 9 * DAY, "under 2 minutes to 9 days old"),
        (None, 9 * DAY, "9 days old"),
    ],
)
def test_ages_go_from_the_newest_to_the_oldest_and_are_never_rounded_up(
    newest: float | None, oldest: float, text: str
) -> None:
    assert ages(newest, oldest) == f"all 2 replayed ({text})"


def test_an_age_that_is_not_known_is_said_to_be_so() -> None:
    assert ages(None, None, undated=True) == "all 2 replayed (of unknown age)"
    assert ages(2 * DAY, 9 * DAY, undated=True) == "all 2 replayed (2 to 9 days old, some of unknown age)"
    assert ages(None, None) == "all 2 replayed"


def test_recordings_inside_answers_that_were_asked_for_are_not_hidden() -> None:
    run = Results((result(1), result(1)), oldest_reply=3 * DAY, newest_reply=3 * DAY)
    assert origin_text(run) == "2 asked, in part replayed (3 days old)"
