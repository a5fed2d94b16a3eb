from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.dispatch.queues import AdaptiveConcurrency


def test_a_complaint_halves_what_was_on_its_way() -> None:
    pace = AdaptiveConcurrency(64)
    pace.throttled(sent=1, now=2, running=40)
    assert pace.allowed == 20


def test_complaints_about_requests_sent_before_the_last_slowing_are_the_same_complaint() -> None:
    pace = AdaptiveConcurrency(64)
    for now in range(2, 30):
        pace.throttled(sent=1, now=now, running=64)
    assert pace.allowed == 32
    pace.throttled(sent=3, now=31, running=32)
    assert pace.allowed == 16


def test_answers_win_back_what_a_complaint_took() -> None:
    pace = AdaptiveConcurrency(64)
    pace.throttled(sent=1, now=2, running=64)
    for _ in range(128):
        pace.answered()
    assert pace.allowed == 64


@given(st.integers(1, 100), st.lists(st.one_of(st.none(), st.integers(1, 100))))
def test_at_least_one_and_at_most_all_may_be_on_their_way(most: int, events: list[int | None]) -> None:
    pace = AdaptiveConcurrency(most)
    for now, running in enumerate(events):
        if running is None:
            pace.answered()
        else:
            pace.throttled(sent=now, now=now, running=running)
        assert 1 <= pace.allowed <= most
