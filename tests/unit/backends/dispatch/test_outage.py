from __future__ import annotations

import pytest

from pytest_fcall.backends.dispatch.queues import MOST_LOST, Outage
from tests.unit.backends.dispatch.support import broken, busy, gone


@pytest.fixture
def outage() -> Outage:
    """A server that has answered, and cannot be reached since the second 0."""
    outage = Outage()
    outage.answered()
    outage.failed(gone(), 0)
    return outage


def test_a_server_that_has_answered_may_come_back_within_ten_seconds(outage: Outage) -> None:
    assert outage.may_pass(9.9)
    assert not outage.may_pass(10)


def test_a_server_that_never_answered_does_not_come_back() -> None:
    outage = Outage()
    outage.failed(gone(), 0)
    assert not outage.may_pass(0)


def test_the_seconds_count_from_the_first_failure_in_a_row(outage: Outage) -> None:
    outage.failed(gone(), 9)
    assert not outage.may_pass(10)
    outage.answered()
    outage.failed(gone(), 9)
    assert outage.may_pass(18)


def test_a_server_that_fails_in_another_way_is_reached(outage: Outage) -> None:
    outage.failed(broken(), 5)
    assert not outage.is_unreachable
    outage.failed(gone(), 9)
    assert not outage.lasts(18)


def test_a_request_that_was_turned_away_for_good_is_no_reason_to_send_no_other(outage: Outage) -> None:
    assert [outage.lost(busy()) for _ in range(2 * MOST_LOST)] == [""] * 2 * MOST_LOST
