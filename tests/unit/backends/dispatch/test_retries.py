from __future__ import annotations

import asyncio
from dataclasses import astuple
from pathlib import Path

import pytest

from pytest_fcall.backends.costs import REPLY_TOKENS, estimated_tokens
from pytest_fcall.backends.dispatch.job import DispatchLimits, DispatchProgress
from pytest_fcall.backends.dispatch.queues import MOST_LOST
from pytest_fcall.backends.dispatch.rate_limits import WINDOW_SECONDS
from pytest_fcall.backends.dispatch.sender import FIRST_WAIT, Retries
from pytest_fcall.backends.processes.ledger import FileLedger
from pytest_fcall.core import CaseRefused, ModelUnavailable, Reply, Request, Unanswered, Usage
from tests.unit.backends.dispatch.conftest import Start
from tests.unit.backends.dispatch.support import NOON, Run, Scripted, broken, busy, gone, job, jobs


def scripted(run: Run, *script: Reply | BaseException) -> Scripted:
    return Scripted(*script, clock=run.clock)


class Attempts:
    """The failed attempts of one request, whose waits are half as long as they may be."""

    def __init__(self, **limits: float) -> None:
        self._retries = Retries(DispatchLimits(**limits), NOON, 5, lambda: 0.5)  # type: ignore[arg-type]  # of several types

    def wait(
        self,
        error: Unanswered,
        *,
        after: float = 0,
        now: float = 0,
        answers: int = 5,
        again: bool = True,
        patient: bool = False,
    ) -> float:
        return self._retries.next_wait(error, after, NOON + now, answers, again=again, patient=patient)


def test_a_wait_is_what_the_server_asked_for_and_a_random_part_of_ever_longer_ones() -> None:
    attempts = Attempts()
    assert [attempts.wait(broken(), after=after) for after in (0, 20, 0, 3)] == [0.25, 20.5, 1, 5]


def test_retries_are_used_up_by_all_errors_but_by_being_turned_away_while_others_are_taken() -> None:
    turned_away = Attempts(retries=0)
    assert [turned_away.wait(busy(), answers=answers) for answers in (6, 7)] == [0.25, 0.5]
    with pytest.raises(Unanswered, match=r"too many requests \(3 attempts\)"):
        turned_away.wait(busy(), answers=7)
    failed = Attempts(retries=1)
    assert failed.wait(broken(), answers=6) == 0.25
    with pytest.raises(Unanswered, match=r"HTTP 500 \(2 attempts\)"):
        failed.wait(broken(), answers=7)


def test_patience_needs_no_retries_but_time_and_where_nothing_helps_there_is_no_retry() -> None:
    assert Attempts(retries=0).wait(broken(), patient=True) == 0.25
    assert Attempts(retry_seconds=9).wait(broken(), now=8.75) == 0.25
    for attempts, patient, again in ((Attempts(), True, False), (Attempts(retry_seconds=8), True, True)):
        with pytest.raises(Unanswered, match=r"^HTTP 500$"):
            attempts.wait(broken(), now=8.75, patient=patient, again=again)


@pytest.mark.parametrize(
    "error",
    [
        Unanswered("no", retry_after=7.0),
        Unanswered("no", throttled=True),
        Unanswered("no", billable=True),
        Unanswered("no", unreachable=True),
    ],
)
def test_the_last_error_says_all_that_the_server_said(error: Unanswered) -> None:
    attempts = Attempts(retries=1)
    attempts.wait(error)
    with pytest.raises(Unanswered) as raised:
        attempts.wait(error)
    last = raised.value
    assert (last.retry_after, last.throttled, last.billable, last.unreachable) == (
        *(error.retry_after, error.throttled),
        *(error.billable, error.unreachable),
    )


def test_a_server_that_failed_is_asked_again_after_ever_longer_waits(run: Run) -> None:
    backend = scripted(run, *[broken()] * 5)
    assert run.ask([job("x", backend)]) == ["x"]
    assert run.clock.waits == [0.5, 1, 2, 4, 8]
    assert run.dispatcher.progress().retried == 5


def test_no_wait_grows_beyond_a_minute(start: Start) -> None:
    run = start(DispatchLimits(retries=12))
    assert run.ask([job("x", scripted(run, *[broken()] * 12))]) == ["x"]
    assert run.clock.waits[-3:] == [60] * 3


def test_it_is_left_after_so_many_retries_and_the_error_says_so(run: Run) -> None:
    backend = scripted(run, *[broken()] * 9)
    [error] = run.ask([job("x", backend)])
    assert isinstance(error, Unanswered)
    assert str(error) == "HTTP 500 (6 attempts)"
    assert len(backend.asked) == 6


def test_without_retries_the_error_comes_as_it_is(start: Start) -> None:
    error = broken()
    assert start(DispatchLimits(retries=0)).ask([job("x", Scripted(error))]) == [error]


def test_it_is_left_when_the_next_try_would_come_after_the_budget(start: Start) -> None:
    run = start(DispatchLimits(retries=99, retry_seconds=10))
    backend = scripted(run, *[broken()] * 99)
    run.ask([job("x", backend)])
    assert [time - NOON for time in backend.times] == [0, 0.5, 1.5, 3.5, 7.5]


def test_a_try_that_comes_just_when_the_budget_ends_is_made(start: Start) -> None:
    run = start(DispatchLimits(retry_seconds=FIRST_WAIT))
    assert run.ask([job("x", scripted(run, broken()))]) == ["x"]


def test_the_time_in_the_queue_uses_up_no_budget(start: Start) -> None:
    run = start(DispatchLimits(concurrency=1, retry_seconds=3, rpm=1))
    backend = scripted(run)
    assert run.ask(jobs(5, backend)) == ["0", "1", "2", "3", "4"]


def test_a_server_that_says_when_to_come_again_is_left_alone_by_all_until_then(start: Start) -> None:
    run = start(DispatchLimits(concurrency=1))
    backend = scripted(run, busy(retry_after=20))
    other = scripted(run)
    assert run.ask([*jobs(10, backend), job("other", other, "openai:other")])[10] == "other"
    assert backend.times[0] == NOON
    assert min(backend.times[1:]) >= NOON + 20
    assert other.times == [NOON]


@pytest.mark.parametrize("seconds", [0.0, -5.0, float("nan"), None])
def test_a_time_that_says_nothing_is_passed_over(run: Run, seconds: float | None) -> None:
    assert run.ask([job("x", scripted(run, busy(retry_after=seconds)))]) == ["x"]
    assert run.clock.waits == [0.5]


def test_a_server_may_ask_for_less_than_a_second_and_for_all_the_time_there_is(start: Start) -> None:
    for seconds in (0.25, 900.0 - FIRST_WAIT, 900.0):
        run = start(DispatchLimits(concurrency=1))
        backend = scripted(run, busy(retry_after=seconds))
        answers = run.ask(jobs(2, backend))
        assert answers[1] == "1"
        assert (answers[0] == "0") == (seconds < 900)
        assert min(backend.times[1:]) == NOON + seconds


def test_what_fails_after_the_model_was_unavailable_waits_for_no_other_attempt(start: Start) -> None:
    class Together(Scripted):
        """Answers when both requests have come."""

        async def answer(self, request: Request) -> Reply:
            while self.most < 2:
                await asyncio.sleep(0)
            return await super().answer(request)

    run = start(DispatchLimits(concurrency=2))
    backend = Together(ModelUnavailable("no quota"), broken(), clock=run.clock)
    assert [str(error) for error in run.ask(jobs(2, backend))] == ["no quota"] * 2
    assert (backend.asked, run.clock.waits) == (["0", "1"], [])


@pytest.mark.parametrize("seconds", [3600.0, float("inf")])
def test_nobody_waits_for_a_server_that_wants_to_be_left_alone_for_too_long(start: Start, seconds: float) -> None:
    run = start(DispatchLimits(concurrency=1))
    backend = scripted(run, *[busy(retry_after=seconds)] * 9)
    results = run.ask(jobs(50, backend))
    assert {str(error) for error in results} == {
        f"too many requests (Retry-After is {seconds:.0f} s, more than the limit of 900 s)"
    }
    assert all(isinstance(error, ModelUnavailable) for error in results)
    assert len(backend.asked) == 1


class Narrow(Scripted):
    """Takes so many requests at a time, and complains about the rest."""

    def __init__(self, run: Run, width: int) -> None:
        super().__init__(clock=run.clock)
        self.width = width
        self.complaints = 0

    async def answer(self, request: Request) -> Reply:
        if self._running > self.width:
            self.complaints += 1
            raise busy()
        return await super().answer(request)


def test_a_server_that_takes_few_at_a_time_is_sent_few_and_answers_all(start: Start) -> None:
    run = start(DispatchLimits(concurrency=64))
    backend = Narrow(run, 4)
    assert run.ask(jobs(500, backend)) == [str(number) for number in range(500)]
    assert backend.complaints < 250


@pytest.mark.parametrize(("error", "most"), [(broken(), 2), (busy(), 1)])
def test_only_a_server_that_turns_requests_away_is_sent_fewer_at_a_time(
    start: Start, error: Unanswered, most: int
) -> None:
    run = start(DispatchLimits(concurrency=2))
    run.ask([job("x", scripted(run, error))])
    backend = scripted(run)
    run.ask(jobs(2, backend))
    assert backend.most == most


def test_being_turned_away_while_others_are_taken_uses_up_no_retries(start: Start) -> None:
    run = start(DispatchLimits(concurrency=2, retries=1))

    class Unfair(Scripted):
        async def answer(self, request: Request) -> Reply:
            reply = await super().answer(request)
            if reply.text == "0" and len(self.asked) < 30:
                raise busy()
            return reply

    assert run.ask(jobs(40, Unfair()))[0] == "0"


def test_being_turned_away_when_no_others_are_left_does(start: Start) -> None:
    run = start(DispatchLimits(concurrency=2, retries=1))

    class Unfair(Scripted):
        async def answer(self, request: Request) -> Reply:
            reply = await super().answer(request)
            if reply.text == "0":
                raise busy()
            return reply

    backend = Unfair()
    assert isinstance(run.ask(jobs(10, backend))[0], Unanswered)
    assert backend.asked.count("0") <= 4


def test_being_turned_away_with_all_others_does(start: Start) -> None:
    run = start(DispatchLimits(retries=2))
    backend = Scripted(*[busy()] * 99)
    assert {str(error) for error in run.ask(jobs(3, backend))} == {"too many requests (3 attempts)"}


def test_where_nobody_ever_answered_one_request_is_patient_for_all(start: Start) -> None:
    run = start(DispatchLimits(concurrency=1))
    backend = scripted(run, *[broken()] * 999)
    assert {str(error) for error in run.ask(jobs(2, backend))} == {"HTTP 500 (6 attempts)"}
    assert [str(error) for error in run.ask(jobs(MOST_LOST - 1, backend)[2:])] == ["HTTP 500"] * (MOST_LOST - 3)


def test_where_many_in_a_row_got_no_answer_no_others_are_asked(start: Start) -> None:
    run = start(DispatchLimits(concurrency=1))
    backend = scripted(run, *[broken()] * 999)
    results = run.ask(jobs(100, backend))
    lost, stopped = results[: MOST_LOST - 1], results[MOST_LOST - 1 :]
    assert {type(error) for error in lost} == {Unanswered}
    assert {(type(error), str(error)) for error in stopped} == {
        (ModelUnavailable, "20 requests in a row got no answer; the last: HTTP 500 (6 attempts)")
    }


def test_an_answer_in_between_shows_that_a_model_is_there(start: Start) -> None:
    run = start(DispatchLimits(concurrency=1, retries=0))
    script: list[Reply | BaseException] = [Reply(), *[broken()] * (MOST_LOST - 1)]
    backend = scripted(run, *script * 5)
    results = run.ask(jobs(5 * MOST_LOST, backend))
    assert {type(error) for error in results} == {str, Unanswered}
    assert len(backend.asked) == len(results)


def test_where_nobody_ever_was_nobody_is_asked_after_the_first_is_given_up(start: Start) -> None:
    run = start(DispatchLimits(concurrency=64))
    backend = scripted(run, *[gone()] * 9_999)
    results = run.ask(jobs(1_000, backend))
    assert {(type(error), str(error)) for error in results} == {(ModelUnavailable, "nobody is there (6 attempts)")}
    assert len({*backend.asked}) <= 64 + 1


def test_who_was_there_before_may_come_back_within_seconds(start: Start) -> None:
    run = start(DispatchLimits(concurrency=1, retries=2))
    backend = scripted(run)
    run.ask([job("good", backend)])
    backend.script.extend([gone()] * 5)
    assert run.ask([job("late", backend)]) == ["late"]
    assert run.clock.now - NOON == sum([0.5, 1, 2, 4, 8])


def test_who_was_there_before_and_does_not_come_back_is_asked_no_more(start: Start) -> None:
    run = start(DispatchLimits(concurrency=8))
    backend = scripted(run)
    run.ask([job("good", backend)])
    backend.script.extend([gone()] * 9_999)
    results = run.ask(jobs(1_000, backend))
    assert {type(error) for error in results} == {ModelUnavailable}
    assert len({*backend.asked}) <= 1 + 8 + 1


def test_who_does_not_come_back_within_seconds_is_given_up_although_retries_are_left(start: Start) -> None:
    run = start(DispatchLimits(concurrency=1, retries=9))
    backend = scripted(run)
    run.ask([job("good", backend)])
    backend.script.extend([gone()] * 99)
    [error] = run.ask([job("late", backend)])
    assert (type(error), str(error)) == (ModelUnavailable, "nobody is there (6 attempts)")


def test_a_server_that_says_anything_is_there(start: Start) -> None:
    run = start(DispatchLimits(concurrency=1, retries=5))
    backend = scripted(run, Reply(), *[gone()] * 5, broken(), *[gone()] * 5)
    assert run.ask([job("good", backend)]) == [""]
    [error] = run.ask([job("lost", backend)])
    assert isinstance(error, Unanswered)


def test_who_turns_everybody_away_is_there(start: Start) -> None:
    run = start(DispatchLimits(concurrency=1))
    backend = scripted(run, *[busy()] * 6)
    assert isinstance(run.ask([job("bad", backend)])[0], Unanswered)
    backend.script.extend([busy()] * 3)
    assert run.ask([job("patient", backend)]) == ["patient"]


def test_who_refuses_a_request_is_there(start: Start) -> None:
    run = start(DispatchLimits(concurrency=1))
    backend = scripted(run, CaseRefused("too long"), *[broken()] * 6)
    run.ask(jobs(2, backend))
    backend.script.extend([broken()] * 3)
    assert run.ask([job("patient", backend)]) == ["patient"]


def test_where_somebody_answered_before_every_request_is_patient(start: Start) -> None:
    run = start(DispatchLimits(concurrency=1))
    backend = scripted(run)
    run.ask([job("good", backend)])
    backend.script.extend([broken()] * 6)
    assert isinstance(run.ask([job("bad", backend)])[0], Unanswered)
    backend.script.extend([broken()] * 5)
    assert run.ask([job("late", backend)]) == ["late"]


def test_nobody_who_comes_back_later_is_kept_from_it_by_early_failures(start: Start) -> None:
    run = start(DispatchLimits(concurrency=1))
    backend = scripted(run, *[broken()] * 6)
    run.ask([job("bad", backend)])
    run.ask([job("good", backend)])
    backend.script.extend([broken()] * 3)
    assert run.ask([job("patient", backend)]) == ["patient"]


def test_what_is_asked_again_goes_before_what_was_never_asked(start: Start) -> None:
    run = start(DispatchLimits(concurrency=1, rpm=1))
    backend = scripted(run, broken())
    run.ask(jobs(4, backend))
    assert backend.asked == ["0", "0", "1", "2", "3"]


def most_in_a_minute(times: list[float]) -> int:
    return max(sum(start <= time < start + 60 for time in times) for start in times)


def test_no_minute_has_more_requests_to_a_model_than_allowed(start: Start) -> None:
    run = start(DispatchLimits(rpm=10))
    first, second = scripted(run, *[broken()] * 7), scripted(run)
    run.ask([*jobs(35, first, "openai:a"), *jobs(35, second, "openai:b")])
    assert [most_in_a_minute(first.times), most_in_a_minute(second.times)] == [10, 10]


def test_one_alarm_is_set_for_all_that_wait(start: Start) -> None:
    run = start(DispatchLimits(rpm=1))
    run.ask(jobs(5, scripted(run)))
    assert run.clock.waits == [WINDOW_SECONDS] * 4


def test_no_minute_has_more_tokens_than_allowed_whatever_was_estimated(start: Start) -> None:
    run = start(DispatchLimits(tpm=1000, concurrency=1))
    backend = Scripted(*[Reply(usage=Usage(input_tokens=300, output_tokens=100))] * 20, clock=run.clock)
    run.ask(jobs(20, backend))
    assert most_in_a_minute(backend.times) * 400 <= 1000 + 400
    assert most_in_a_minute(backend.times) >= 2


ESTIMATED = estimated_tokens(job("0", Scripted()).request) + REPLY_TOKENS


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (Usage(input_tokens=300, output_tokens=40), 340),
        (Usage(input_tokens=300), 300),
        (Usage(input_tokens=20, output_tokens=40), 60),
        (Usage(output_tokens=40), ESTIMATED),
        (None, ESTIMATED),
    ],
)
def test_a_reply_counts_with_the_tokens_that_it_used_and_a_request_as_estimated(
    start: Start, usage: Usage | None, tokens: int
) -> None:
    for spare, waits in ((0, []), (-1, [WINDOW_SECONDS])):
        run = start(DispatchLimits(tpm=tokens + ESTIMATED + spare, concurrency=1))
        run.ask(jobs(2, Scripted(Reply(usage=usage), clock=run.clock)))
        assert run.clock.waits == waits


def test_a_request_larger_than_all_tokens_of_a_minute_goes_alone(start: Start) -> None:
    run = start(DispatchLimits(tpm=10))
    backend = scripted(run)
    assert run.ask(jobs(3, backend)) == ["0", "1", "2"]
    assert most_in_a_minute(backend.times) == 1


def test_a_shared_file_that_cannot_be_used_stops_nobody_and_is_told(start: Start, tmp_path: Path) -> None:
    (tmp_path / "limits.db").write_bytes(b"not a database" * 100)
    run = start(DispatchLimits(rpm=5, shared=FileLedger(tmp_path / "limits.db")))
    backend = scripted(run)
    assert len(run.ask(jobs(12, backend))) == 12
    assert most_in_a_minute(backend.times) == 5
    assert "limits.db cannot be used: file is not a database" in run.dispatcher.progress().warning


def test_the_shared_file_is_left_alone_while_there_is_nothing_to_share(start: Start, tmp_path: Path) -> None:
    run = start(DispatchLimits(shared=FileLedger(tmp_path / "deep" / "limits.db", lambda: run.clock.now)))
    run.ask(jobs(5, scripted(run, broken())))
    assert not (tmp_path / "deep").exists()
    run.ask([job("busy", scripted(run, busy(retry_after=2)))])
    assert (tmp_path / "deep" / "limits.db").exists()


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"concurrency": 0}, "concurrency must be at least 1, not 0"),
        ({"rpm": 0}, "rpm must be at least 1, not 0"),
        ({"tpm": -1}, "tpm must be at least 1, not -1"),
        ({"timeout": float("nan")}, "timeout must not be negative: nan"),
        ({"timeout": -0.1}, "timeout must not be negative: -0.1"),
        ({"retries": -1}, "retries must not be negative: -1"),
        ({"retry_seconds": -1}, "retry_seconds must not be negative: -1"),
    ],
)
def test_limits_that_make_no_sense_are_refused_in_words(limits: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DispatchLimits(**limits)  # type: ignore[arg-type]  # the table holds several types


def test_limits_begin_where_something_may_be_sent_and_are_those_that_the_documentation_names() -> None:
    assert DispatchLimits(1, 1, 1, 0, 0, 0) != DispatchLimits()
    assert DispatchLimits() == DispatchLimits(64, None, None, None, 5, 900.0, None)


def test_nothing_has_been_done_before_the_first_job() -> None:
    assert set(astuple(DispatchProgress())) == {0, ""}
