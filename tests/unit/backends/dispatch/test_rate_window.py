from __future__ import annotations

import heapq
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.dispatch.rate_limits import LONGEST_BLOCK_SECONDS, WINDOW_SECONDS, RateWindow
from tests.unit.backends.dispatch.support import NOON


@dataclass(frozen=True)
class Wish:
    """One request: how long after the last, how many tokens, how late one gets up, and how long it is on the way."""

    after: float
    tokens: int
    late: float
    way: float


@dataclass(frozen=True)
class Sent:
    time: float
    tokens: int


Process = list[Wish]
seconds = st.floats(0, 40, allow_nan=False)
lateness = st.sampled_from([0.0, 0.001, 0.4, 3.0])
wishes = st.builds(Wish, seconds, st.integers(0, 60), lateness, st.floats(0, 0.99))
processes = st.lists(st.lists(wishes, max_size=25), min_size=1, max_size=4)


def simulate(processes: list[Process], rpm: int | None, tpm: int | None) -> list[Sent]:
    """Let all processes ask through one window, trying again when they are told to; return what the server gets."""
    window = RateWindow()
    sent: list[Sent] = []
    awake = [(NOON + wishes[0].after, number, 0) for number, wishes in enumerate(processes) if wishes]
    heapq.heapify(awake)
    while awake:
        now, process, index = heapq.heappop(awake)
        wish = processes[process][index]
        wait = window.take(now, wish.tokens, rpm, tpm)
        if wait > 0:
            heapq.heappush(awake, (now + wait + wish.late, process, index))
            continue
        sent.append(Sent(now + wish.way, wish.tokens))
        if index + 1 < len(processes[process]):
            heapq.heappush(awake, (now + processes[process][index + 1].after, process, index + 1))
    return sent


def within_a_minute(sent: list[Sent], first: Sent) -> list[Sent]:
    return [each for each in sent if first.time <= each.time <= first.time + 60]


@given(processes, st.integers(1, 8))
def test_no_minute_ever_has_more_requests_than_allowed(processes: list[Process], rpm: int) -> None:
    sent = simulate(processes, rpm, None)
    assert len(sent) == sum(map(len, processes))
    assert all(len(within_a_minute(sent, first)) <= rpm for first in sent)


@given(processes, st.integers(1, 150))
def test_no_minute_ever_has_more_tokens_than_allowed_but_for_one_request_that_is_larger(
    processes: list[Process], tpm: int
) -> None:
    sent = simulate(processes, None, tpm)
    assert len(sent) == sum(map(len, processes))
    for first in sent:
        minute = [each for each in within_a_minute(sent, first) if each.tokens]
        assert sum(each.tokens for each in minute) <= tpm or len(minute) == 1


@given(processes, st.integers(1, 8), st.integers(1, 150))
def test_both_limits_hold_together(processes: list[Process], rpm: int, tpm: int) -> None:
    sent = simulate(processes, rpm, tpm)
    for first in sent:
        minute = within_a_minute(sent, first)
        assert len(minute) <= rpm
        assert sum(each.tokens for each in minute) <= max(tpm, *(each.tokens for each in minute))


@given(st.lists(seconds, max_size=40), st.integers(1, 8))
def test_nobody_waits_without_need_or_for_too_long(pauses: list[float], rpm: int) -> None:
    window = RateWindow()
    now, sent = NOON, [float("-inf")] * rpm
    for pause in pauses:
        now += pause
        if (wait := window.take(now, 0, rpm, None)) > 0:
            assert now - sent[-rpm] < WINDOW_SECONDS
            now += wait
            assert now - sent[-rpm] <= WINDOW_SECONDS
            assert window.take(now, 0, rpm, None) == 0
        sent.append(now)


@given(processes, st.integers(1, 8))
def test_a_window_comes_back_from_its_text_as_it_was(processes: list[Process], rpm: int) -> None:
    window = RateWindow()
    for wish in (wish for wishes in processes for wish in wishes):
        window.take(NOON + wish.after, wish.tokens, rpm, None)
    window.block(NOON + 7.25)
    assert RateWindow.from_text(window.to_text()) == window


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{}", "[1]", "[0, [[1]]]", '[0, "xyz"]', '["x", []]', "[0, [[1e999, 1, 1]]]", "[" * 100_000],
)
def test_a_text_that_is_none_is_a_window_in_which_nothing_was_asked(text: str) -> None:
    assert RateWindow.from_text(text) == RateWindow()


def test_what_was_taken_counts_with_the_tokens_that_it_used_in_the_end() -> None:
    window = RateWindow()
    assert window.take(NOON, 10, None, 100) == 0
    window.settle(NOON, 90)
    assert window.take(NOON + 1, 1, None, 100) == WINDOW_SECONDS - 1
    window.settle(NOON, -50)
    assert window.take(NOON + 1, 1, None, 100) == 0


def test_what_is_settled_after_its_minute_counts_no_more() -> None:
    window = RateWindow()
    window.take(NOON, 10, None, 100)
    window.take(NOON + 70, 10, None, 100)
    window.settle(NOON, 90)
    assert window.take(NOON + 71, 90, None, 100) == 0


def test_a_server_that_is_to_be_left_alone_is_until_then() -> None:
    window = RateWindow()
    window.block(NOON + 30)
    window.block(NOON + 10)
    assert window.take(NOON, 0, None, None) == 30
    assert window.take(NOON + 30, 0, None, None) == 0


def test_a_clock_that_was_set_back_stops_nobody_for_long() -> None:
    window = RateWindow()
    for _ in range(5):
        window.take(NOON, 0, 5, None)
    window.block(NOON + 30)
    assert window.take(NOON - 86_400, 0, 5, None) == 0


def test_what_counts_no_more_is_not_kept() -> None:
    window = RateWindow()
    window.take(NOON, 0, 5, None)
    assert window.take(NOON + WINDOW_SECONDS, 0, None, None) == 0
    assert window == RateWindow()


def test_a_request_that_is_settled_is_counted_once() -> None:
    window = RateWindow()
    window.take(NOON, 10, 2, 100)
    window.settle(NOON, 5)
    assert window.take(NOON, 10, 2, 100) == 0


def test_a_window_in_which_nothing_happened_stops_nobody_at_any_time() -> None:
    assert RateWindow().take(0.0, 0, None, None) == 0


def test_a_block_of_an_hour_holds_and_a_longer_one_was_written_by_a_clock_that_was_wrong() -> None:
    window = RateWindow()
    window.block(NOON + LONGEST_BLOCK_SECONDS)
    assert window.take(NOON, 0, None, None) == LONGEST_BLOCK_SECONDS == 3600
    window.block(NOON + 3600.5)
    assert window.take(NOON, 0, None, None) == 0
    assert window == RateWindow()


def test_what_was_never_taken_is_not_settled() -> None:
    window = RateWindow()
    window.take(NOON, 10, None, 100)
    window.settle(NOON + 5, 90)
    assert window.take(NOON + 6, 90, None, 100) == 0


def test_a_request_that_used_fewer_tokens_than_none_leaves_room_for_all() -> None:
    window = RateWindow()
    window.take(NOON, 10, None, 100)
    window.settle(NOON, -50)
    assert window.take(NOON, 100, None, 100) == 0


@pytest.mark.parametrize(("rpm", "tpm"), [(2, None), (None, 2), (2, 2)])
def test_as_many_as_are_allowed_go_at_once_and_the_next_waits_for_the_first_to_leave(
    rpm: int | None, tpm: int | None
) -> None:
    window = RateWindow()
    taken = [window.take(now, 1, rpm, tpm) for now in (NOON, NOON + 1, NOON + 2)]
    assert taken == [0, 0, WINDOW_SECONDS - 2]
    assert window.take(NOON + WINDOW_SECONDS, 1, rpm, tpm) == 0


def test_who_waits_for_a_block_and_for_a_rate_waits_for_the_later_of_both() -> None:
    window = RateWindow()
    window.take(NOON, 0, 1, None)
    window.block(NOON + 5)
    assert window.take(NOON, 0, 1, None) == WINDOW_SECONDS
    window.block(NOON + 100)
    assert window.take(NOON, 0, 1, None) == 100
